//! Types whose JSON has another structure than the model.

mod body;
mod fields;
mod step;

use crate::describe::*;
use crate::notation::{canonical, check_agent, read_path, shared_path};
use crate::reader::{Object, Reader};
use crate::schema::{ObjectSchema, Schemas};
use agentir_diagnostics::{Span, Spanned};
use agentir_expr::{Argument, Condition, Expr, Name};
use agentir_ir::{Body, Branch, Call, Jump, SetVariable};
use agentir_syntax::json::Json as Node;
use agentir_syntax::lower::report_lost;
use serde::ser::{SerializeMap, Serializer};
use serde_json::Value;
use smol_str::SmolStr;
use std::borrow::Cow;

/// Implements the traits for a type by those of a form of it: `form` makes the form, `value` the value.
macro_rules! by_form {
    ($ty:ident = $name:literal by $form:ty, $to_form:expr, $to_value:expr) => {
        impl Fields for $ty {
            fn write_fields<M: SerializeMap>(&self, mode: Mode, map: &mut M) -> Result<(), M::Error> {
                $to_form(self).write_fields(mode, map)
            }
            fn read_fields(object: &mut Object<'_>, reader: &mut Reader<'_>) -> Option<Self> {
                let form = <$form as Fields>::read_fields(object, reader)?;
                $to_value(form, reader)
            }
            fn describe(schemas: &mut Schemas, object: &mut ObjectSchema) {
                <$form as Fields>::describe(schemas, object);
            }
            fn definition(schemas: &mut Schemas) -> Value {
                <$form as Fields>::definition(schemas)
            }
        }

        impl Json for $ty {
            fn write<S: Serializer>(&self, mode: Mode, serializer: S) -> Result<S::Ok, S::Error> {
                let mut map = serializer.serialize_map(None)?;
                self.write_fields(mode, &mut map)?;
                map.end()
            }
            fn read(json: &Node, reader: &mut Reader<'_>) -> Option<Self> {
                reader.object(json, $name)
            }
            fn schema(schemas: &mut Schemas) -> Value {
                <Self as Fields>::definition(schemas)
            }
            by_form!(@hooks $ty);
        }
    };
    (@hooks Body) => {
        fn is_absent(&self) -> bool {
            self.is_empty()
        }
    };
    (@hooks Step) => {
        fn unread(span: Span, reader: &mut Reader<'_>) -> Option<Self> {
            Object::empty(span, "Step").fields(reader)
        }
        fn set_key(&mut self, key: &Spanned<Name>, reader: &mut Reader<'_>) {
            crate::forms::step::set_name(self, key, reader);
        }
    };
    (@hooks $other:ident) => {};
}

pub(crate) use by_form;

/// A name that is written without its span.
#[derive(Clone, Default)]
pub(crate) struct PlainName<'a>(pub(crate) Cow<'a, Spanned<Name>>);

impl Json for PlainName<'_> {
    fn write<S: Serializer>(&self, _: Mode, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0.value)
    }
    fn read(json: &Node, reader: &mut Reader<'_>) -> Option<Self> {
        Json::read(json, reader).map(|name| Self(Cow::Owned(name)))
    }
    fn schema(schemas: &mut Schemas) -> Value {
        SmolStr::schema(schemas)
    }
}

/// A jump as the only key of an object.
pub(crate) struct GotoForm<'a> {
    then: Cow<'a, Jump>,
}

object! {
    /// The JSON of [`Statement::Goto`]: an object, like all other statements.
    GotoForm<'_> = "GotoJson" {
        /// The target.
        then as "then": required;
    }
    then |goto, _, reader| check_agent(&goto.then, reader);
}

impl Fields for Jump {
    fn write_fields<M: SerializeMap>(&self, mode: Mode, map: &mut M) -> Result<(), M::Error> {
        GotoForm { then: Cow::Borrowed(self) }.write_fields(mode, map)
    }
    fn read_fields(object: &mut Object<'_>, reader: &mut Reader<'_>) -> Option<Self> {
        GotoForm::read_fields(object, reader).map(|form| form.then.into_owned())
    }
    fn describe(schemas: &mut Schemas, object: &mut ObjectSchema) {
        GotoForm::describe(schemas, object);
    }
    fn definition(schemas: &mut Schemas) -> Value {
        GotoForm::definition(schemas)
    }
}

/// The assigned variable, which is printed as an expression.
pub(crate) struct AssignedPath<'a>(Cow<'a, agentir_expr::Path>);

impl Json for AssignedPath<'_> {
    fn write<S: Serializer>(&self, mode: Mode, serializer: S) -> Result<S::Ok, S::Error> {
        match mode {
            Mode::WithSpans => serializer.collect_str(&shared_path(&self.0)),
            Mode::Published | Mode::Plain => serializer.collect_str(&self.0),
        }
    }
    fn read(json: &Node, reader: &mut Reader<'_>) -> Option<Self> {
        read_path(json, reader).map(|path| Self(Cow::Owned(path)))
    }
    fn schema(schemas: &mut Schemas) -> Value {
        SmolStr::schema(schemas)
    }
}

/// An expression that is written without its span, and described where it is used.
pub(crate) struct PlainExpr<'a>(Cow<'a, Expr>);

impl Json for PlainExpr<'_> {
    fn write<S: Serializer>(&self, mode: Mode, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&*canonical(&self.0, mode))
    }
    fn read(json: &Node, reader: &mut Reader<'_>) -> Option<Self> {
        Expr::read(json, reader).map(|expr| Self(Cow::Owned(expr)))
    }
    fn schema(schemas: &mut Schemas) -> Value {
        SmolStr::schema(schemas)
    }
}

pub(crate) struct SetForm<'a> {
    variable: AssignedPath<'a>,
    expression: PlainExpr<'a>,
    span: Span,
}

object! {
    /// The JSON of [`SetVariable`].
    SetForm<'_> = "SetVariable" {
        /// The assigned variable.
        variable as "variable": required;
        /// The value, as an expression.
        expression as "expression": required;
    }
    span span;
}

impl<'a> SetForm<'a> {
    const fn new(set: &'a SetVariable) -> Self {
        let variable = AssignedPath(Cow::Borrowed(&set.target));
        Self { variable, expression: PlainExpr(Cow::Borrowed(&set.value)), span: set.span }
    }
}

impl Fields for SetVariable {
    fn write_fields<M: SerializeMap>(&self, mode: Mode, map: &mut M) -> Result<(), M::Error> {
        let form = SetForm::new(self);
        match mode {
            Mode::Published | Mode::Plain => form.write_fields(mode, map),
            Mode::WithSpans => entries_at(&Written(&form, mode), self.span, map),
        }
    }
    fn read_fields(object: &mut Object<'_>, reader: &mut Reader<'_>) -> Option<Self> {
        let SetForm { variable, expression, span } = SetForm::read_fields(object, reader)?;
        Some(Self { target: variable.0.into_owned(), value: expression.0.into_owned(), span })
    }
    fn describe(schemas: &mut Schemas, object: &mut ObjectSchema) {
        SetForm::describe(schemas, object);
    }
    fn definition(schemas: &mut Schemas) -> Value {
        SetForm::definition(schemas)
    }
}

impl Json for SetVariable {
    fn write<S: Serializer>(&self, mode: Mode, serializer: S) -> Result<S::Ok, S::Error> {
        write_at(&Written(&SetForm::new(self), mode), self.span, mode, serializer)
    }
    fn read(json: &Node, reader: &mut Reader<'_>) -> Option<Self> {
        reader.object(json, "SetVariable")
    }
    fn check_items<'v>(all: impl Iterator<Item = &'v Self>, reader: &mut Reader<'_>)
    where
        Self: 'v,
    {
        let all = all.map(|set| (&set.target, &set.value));
        reader.reporting(|problems| report_lost(all, problems));
    }
    fn schema(schemas: &mut Schemas) -> Value {
        <Self as Fields>::definition(schemas)
    }
}

pub(crate) struct ArgumentForm<'a> {
    name: Option<PlainName<'a>>,
    value: PlainExpr<'a>,
}

object! {
    /// The JSON of an argument.
    ArgumentForm<'_> = "Argument" {
        /// The parameter, if named.
        name as "name": optional;
        /// The value, as an expression.
        value as "value": required;
    }
}

impl Json for Argument {
    fn write<S: Serializer>(&self, mode: Mode, serializer: S) -> Result<S::Ok, S::Error> {
        let name = self.name.as_ref().map(|name| PlainName(Cow::Borrowed(name)));
        ArgumentForm { name, value: PlainExpr(Cow::Borrowed(&self.value)) }.write(mode, serializer)
    }
    fn read(json: &Node, reader: &mut Reader<'_>) -> Option<Self> {
        let ArgumentForm { name, value } = Json::read(json, reader)?;
        Some(Self { name: name.map(|name| name.0.into_owned()), value: value.0.into_owned() })
    }
    fn schema(schemas: &mut Schemas) -> Value {
        ArgumentForm::schema(schemas)
    }
}

/// A call without its follow-up.
pub(crate) struct CallForm<'a> {
    pub(crate) tool: Cow<'a, Spanned<Name>>,
    /// Written also if it is empty: a call without the key takes the variables that are named like the parameters.
    pub(crate) with: Option<Cow<'a, [Argument]>>,
    pub(crate) result: Option<Cow<'a, Spanned<Name>>>,
    pub(crate) span: Span,
}

object! {
    /// A call without its follow-up, which ABL writes next to it.
    CallForm<'_> = "CallSpec" {
        /// The tool.
        tool as "tool": named;
        /// The arguments, positional or named; without the key, the variables that are named like the parameters.
        with as "with": optional;
        /// The variable that receives the result.
        result as "as": naming;
    }
    span span;
    then |call, _, reader| {
        let named = call.with.iter().flat_map(|all| all.iter()).filter_map(|a| a.name.as_ref());
        reader.check_unique(named.clone(), ("argument", "given"));
        named.for_each(|name| reader.check_not_empty(name, "the name of an argument"));
        for argument in call.with.iter_mut().flat_map(|all| all.to_mut()) {
            reader.placeholders(&mut argument.value);
        }
    };
}

impl<'a> CallForm<'a> {
    pub(crate) fn new(call: &'a Call) -> Self {
        Self {
            tool: Cow::Borrowed(&call.tool),
            with: (call.has_arguments || !call.with.is_empty())
                .then_some(Cow::Borrowed(call.with.as_slice())),
            result: call.result.as_ref().map(Cow::Borrowed),
            span: call.span,
        }
    }

    /// The call, without its follow-up.
    pub(crate) fn into_call(self) -> Call {
        let has_arguments = self.with.is_some();
        let with = self.with.map(Cow::into_owned).unwrap_or_default();
        Call {
            has_arguments,
            result: self.result.map(Cow::into_owned),
            ..Call::new(self.tool.into_owned(), with, self.span)
        }
    }
}

pub(crate) struct FullCallForm<'a> {
    call: CallForm<'a>,
    success_when: Option<Cow<'a, Condition>>,
    on_success: Cow<'a, Body>,
    on_failure: Cow<'a, Body>,
    on_result: Cow<'a, [Branch]>,
}

object! {
    /// A tool call and its follow-up.
    FullCallForm<'_> = "Call" {
        /// The tool, the arguments and the result.
        call as "call": flat;
        /// The success condition, if it is not left to the tool.
        success_when as "success_when": optional;
        /// Runs after success.
        on_success as "on_success": list;
        /// Runs after failure.
        on_failure as "on_failure": list;
        /// After success or failure: the first branch whose condition holds.
        on_result as "on_result": list;
    }
}

by_form!(
    Call = "Call" by FullCallForm<'_>,
    full_call,
    |form: FullCallForm<'_>, _: &mut Reader<'_>| Some(Call {
        success_when: form.success_when.map(Cow::into_owned),
        on_success: form.on_success.into_owned(),
        on_failure: form.on_failure.into_owned(),
        on_result: form.on_result.into_owned(),
        ..form.call.into_call()
    })
);

fn full_call(call: &Call) -> FullCallForm<'_> {
    FullCallForm {
        call: CallForm::new(call),
        success_when: call.success_when.as_ref().map(Cow::Borrowed),
        on_success: Cow::Borrowed(&call.on_success),
        on_failure: Cow::Borrowed(&call.on_failure),
        on_result: Cow::Borrowed(&call.on_result),
    }
}
