//! The registry: the languages of the library. Nothing else names them all; the crates below are handed the list.

use agentir_convert::Target;
use agentir_diagnostics::Diagnostic;
use agentir_expr::dialect::{Dialect, DialectTables};
use agentir_expr::{Template, TemplatePart};
use agentir_ir_json::{AgentIr, Parsers};
use agentir_lang_abl::dialect::ABL;
use agentir_lang_adl::dialect::ADL;
use agentir_lang_agent_script::dialect::AGENT_SCRIPT;
use agentir_lang_xo::Xo;
use agentir_syntax::inline::InlineText;
use agentir_syntax::{Claim, Language, Languages};

/// Exports are translated to the expressions and texts of ABL.
static XO: Xo =
    Xo { parsers: &agentir_lang_abl::INLINE_PARSERS, base: ABL, dialect: Dialect::new(&XO_TABLES) };

static XO_TABLES: DialectTables =
    agentir_lang_xo::dialect::tables(agentir_lang_abl::dialect::TABLES);

/// Texts in AgentIR have the placeholders of ABL, but for those of Agent Script.
static AGENT_IR: AgentIr = AgentIr {
    parsers: Parsers {
        inline: &agentir_lang_abl::INLINE_PARSERS,
        templates: &[(AGENT_SCRIPT, agentir_lang_agent_script::template), (ADL, adl_template)],
        dialects: || languages().dialects().collect(),
    },
};

/// Lowering writes the placeholders of ADL as ABL has them, and only paths; other braces are text.
fn adl_template(input: InlineText<'_>, _: &mut Vec<Diagnostic>) -> Template {
    let mut template = (agentir_lang_abl::INLINE_PARSERS.template)(input, &mut Vec::new());
    template.parts.retain(|part| {
        matches!(part, TemplatePart::Value { expr, filters, .. }
            if filters.is_empty() && expr.as_path().is_some())
    });
    template
}

static ALL: [&dyn Language; 5] = [
    agentir_lang_abl::ABL,
    agentir_lang_agent_script::AGENT_SCRIPT,
    agentir_lang_adl::ADL,
    &XO,
    &AGENT_IR,
];

/// All languages. ABL is that of files which none of them detects.
#[must_use]
pub fn languages() -> Languages {
    Languages::new(agentir_lang_abl::ABL, &ALL)
}

/// The targets of conversions.
pub mod targets {
    use super::Target;

    /// ABL of the current version, one `.agent.abl` file per agent.
    pub static ABL: Target = Target(agentir_lang_abl::ABL_EMITTER);
    /// ABL in YAML notation, one `.agent.yaml` file per agent.
    pub static ABL_YAML: Target = Target(agentir_lang_abl::YAML_EMITTER);
    /// Agent Script, dialect agentforce, one `.agent` file.
    pub static AGENT_SCRIPT: Target = Target(agentir_lang_agent_script::AGENTFORCE);
    /// Agent Script, base dialect, one `.agent` file.
    pub static AGENT_SCRIPT_BASE: Target = Target(agentir_lang_agent_script::BASE);
    /// ADL: an `agents.yml` file, and a Python file with the signatures of the tools.
    pub static ADL: Target = Target(agentir_lang_adl::EMITTER);

    /// All of them, in the order of the languages.
    #[must_use]
    pub fn all() -> Vec<Target> {
        super::languages().targets().collect()
    }
}

/// Whether a file is taken for one of a language when it is met in a folder, by its name there and its text.
#[must_use]
pub fn is_agent_file(name: &str, text: &str) -> bool {
    languages().iter().any(|language| match language.claim(name.as_bytes()) {
        Claim::ByName => true,
        Claim::ByContent(speaks_for_it) => speaks_for_it(name, text),
        // A package is no text.
        Claim::No | Claim::Package(_) => false,
    })
}

#[cfg(test)]
mod tests {
    use super::languages;
    use std::collections::HashSet;

    #[test]
    fn ids_are_unique_and_found() {
        let ids: HashSet<_> = languages().dialects().map(|dialect| dialect.id()).collect();
        assert_eq!(ids.len(), languages().dialects().count());
        for dialect in languages().dialects() {
            assert_eq!(languages().dialect(dialect.id()), Some(dialect));
            assert_eq!(languages().get(dialect.id()).map(|l| l.dialect()), Some(dialect));
        }
        assert_eq!(languages().dialect("rasa"), None);
        assert_eq!(languages().dialect("none"), None);
    }

    #[test]
    fn tables_say_nothing_twice() {
        for dialect in languages().dialects() {
            let tables = dialect.tables();
            let constructs: HashSet<_> = tables.constructs.iter().collect();
            assert_eq!(constructs.len(), tables.constructs.len(), "{dialect:?}");
            for vocabulary in tables.vocabularies {
                let keywords: HashSet<_> = vocabulary.keywords.iter().map(|(k, _)| k).collect();
                assert_eq!(keywords.len(), vocabulary.keywords.len(), "{dialect:?}");
                let phrases: HashSet<_> = vocabulary.phrases.iter().map(|(p, _)| p).collect();
                assert_eq!(phrases.len(), vocabulary.phrases.len(), "{dialect:?}");
                assert_eq!(dialect.vocabulary(vocabulary.notation).notation, vocabulary.notation);
            }
        }
    }
}
