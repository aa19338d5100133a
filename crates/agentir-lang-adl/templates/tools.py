"""Functions of the bot."""
{% for function in functions %}

def {{ function.name }}({{ function.parameters }}){% if let Some(returns) = function.returns %} -> {{ returns }}{% endif %}:
{%- if let Some(docstring) = function.docstring %}
    """{{ docstring }}"""
{%- endif %}
{%- if !function.results.is_empty() %}
    # gives {{ function.results|join(", ") }}
{%- endif %}
    {{ function.body }}
{% endfor -%}
