//! How a type is described: the traits and the macros that implement them.

use crate::reader::{Object, Reader};
use crate::schema::{ObjectSchema, Schemas};
use agentir_diagnostics::{Span, Spanned};
use agentir_expr::Name;
use agentir_syntax::json::Json as Node;
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::Value;

/// What is written of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// The published format.
    Published,
    /// The published format without the marks that only readers need: for comparisons and emitters.
    Plain,
    /// For comparisons. A value that has a span is an object with the keys [`PLACED`], free-form data whose nulls and empty
    /// values say something is an object with the key [`MARKED`], and a text with placeholders, in the notation that all
    /// dialects share, is an object with the key [`TEXT`].
    WithSpans,
}

/// The keys of a value that is written with its span, `[file, start, end]`.
pub const PLACED: [&str; 2] = ["$value", "$at"];

/// The key of free-form data that is kept as it is.
pub const MARKED: &str = "$data";

/// The key of a text with placeholders: the text in the notation that all dialects share, and as it is written, if that
/// differs.
pub const TEXT: &str = "$text";

/// A type that has JSON.
pub trait Json: Sized {
    /// Whether `null` is a value of the type.
    const NULLABLE: bool = false;

    /// Writes the value.
    ///
    /// # Errors
    /// Those of the serializer.
    fn write<S: Serializer>(&self, mode: Mode, serializer: S) -> Result<S::Ok, S::Error>;

    /// Reads a value; `None` if it is wrong, which is then reported.
    fn read(json: &Node, reader: &mut Reader<'_>) -> Option<Self>;

    /// The schema of the type.
    fn schema(schemas: &mut Schemas) -> Value;

    /// Whether a key with this value is left out.
    fn is_absent(&self) -> bool {
        false
    }

    /// What stands for a value that could not be read, but is named by its key: it is defined.
    fn unread(span: Span, reader: &mut Reader<'_>) -> Option<Self> {
        let _ = (span, reader);
        None
    }

    /// Reports what is wrong with values that follow each other.
    fn check_items<'v>(all: impl Iterator<Item = &'v Self>, reader: &mut Reader<'_>)
    where
        Self: 'v,
    {
        let _ = (all, reader);
    }

    /// Takes the key of the object that the value was read from, where it is the name of the value.
    fn set_key(&mut self, key: &Spanned<Name>, reader: &mut Reader<'_>) {
        let _ = (key, reader);
    }
}

/// A type whose JSON is an object, which may be a part of another object.
pub trait Fields: Sized {
    /// Writes the keys and their values.
    ///
    /// # Errors
    /// Those of the serializer.
    fn write_fields<M: SerializeMap>(&self, mode: Mode, map: &mut M) -> Result<(), M::Error>;

    /// Reads the values of the keys; `None` if one that is required is missing or wrong.
    fn read_fields(object: &mut Object<'_>, reader: &mut Reader<'_>) -> Option<Self>;

    /// Adds the keys to the schema of an object.
    fn describe(schemas: &mut Schemas, object: &mut ObjectSchema);

    /// A reference to the schema of the type on its own.
    fn definition(schemas: &mut Schemas) -> Value;
}

impl<T: Fields> Fields for Box<T> {
    fn write_fields<M: SerializeMap>(&self, mode: Mode, map: &mut M) -> Result<(), M::Error> {
        (**self).write_fields(mode, map)
    }
    fn read_fields(object: &mut Object<'_>, reader: &mut Reader<'_>) -> Option<Self> {
        T::read_fields(object, reader).map(Self::new)
    }
    fn describe(schemas: &mut Schemas, object: &mut ObjectSchema) {
        T::describe(schemas, object);
    }
    fn definition(schemas: &mut Schemas) -> Value {
        T::definition(schemas)
    }
}

/// A value, to be written by any serializer.
#[derive(Debug)]
pub struct Written<'a, T>(pub &'a T, pub Mode);

impl<T: Json> Serialize for Written<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.write(self.1, serializer)
    }
}

/// The JSON of a part of a program.
#[must_use]
pub fn to_value<T: Json>(part: &T, mode: Mode) -> Value {
    part.write(mode, serde_json::value::Serializer).unwrap_or_default()
}

/// Writes a value that has a span.
pub(crate) fn write_at<S: Serializer>(
    value: &impl Serialize,
    span: Span,
    mode: Mode,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    if mode != Mode::WithSpans {
        return value.serialize(serializer);
    }
    let mut map = serializer.serialize_map(Some(2))?;
    entries_at(value, span, &mut map)?;
    map.end()
}

/// The entries of a value that is written with its span.
pub(crate) fn entries_at<M: SerializeMap>(
    value: &impl Serialize,
    span: Span,
    map: &mut M,
) -> Result<(), M::Error> {
    let [value_key, span_key] = PLACED;
    map.serialize_entry(value_key, value)?;
    map.serialize_entry(span_key, &[span.file.0, span.start, span.end])
}

/// Tells the compiler that `value` has the type of a field.
pub(crate) fn typed<S, T>(_: fn(&S) -> &T, value: T) -> T {
    value
}

/// Tells the compiler that `value` has the type of a field, if there is one.
pub(crate) fn typed_if<S, T>(_: fn(&S) -> &T, value: Option<T>) -> Option<T> {
    value
}

/// The schema of a field's type.
pub(crate) fn schema_of<S, T: Json>(_: fn(&S) -> &T, schemas: &mut Schemas) -> Value {
    T::schema(schemas)
}

/// The schema of the type of a variant's field.
pub(crate) fn schema_in<S, T: Json>(_: fn(&S) -> Option<&T>, schemas: &mut Schemas) -> Value {
    T::schema(schemas)
}

/// The words that a field may have as its value; any if there are none.
macro_rules! words {
    () => {
        &[]
    };
    ($words:expr) => {
        $words
    };
}

/// Writes a field, by its mode:
///
/// - `required`: always written; to read an object without it is an error;
/// - `named`: like `required`, for a name, which must not be empty;
/// - `default(value)`: always written; `value` if it is absent;
/// - `optional`: an `Option`, written if there is a value;
/// - `naming`: like `optional`, for a name that other values refer to;
/// - `list`: written unless it is empty; absent means empty;
/// - `flag`: a `bool`, written if it is true; absent means false;
/// - `flat`: its keys are keys of the object around it.
macro_rules! write_field {
    (flat $value:expr, $key:literal, $mode:ident, $map:ident) => {
        $crate::describe::Fields::write_fields($value, $mode, $map)?
    };
    (optional $value:expr, $key:literal, $mode:ident, $map:ident) => {
        write_field!(list $value, $key, $mode, $map)
    };
    (naming $value:expr, $key:literal, $mode:ident, $map:ident) => {
        write_field!(list $value, $key, $mode, $map)
    };
    (list $value:expr, $key:literal, $mode:ident, $map:ident) => {
        if !$crate::describe::Json::is_absent($value) {
            $map.serialize_entry($key, &$crate::describe::Written($value, $mode))?;
        }
    };
    (flag $value:expr, $key:literal, $mode:ident, $map:ident) => {
        if *$value {
            write_field!(always $value, $key, $mode, $map)
        }
    };
    ($always:ident $value:expr, $key:literal, $mode:ident, $map:ident) => {
        $map.serialize_entry($key, &$crate::describe::Written($value, $mode))?
    };
}

/// Reads a field, by its mode. The result is an `Option` if the object cannot be without it.
macro_rules! read_field {
    (flat, $object:ident, $reader:ident, $key:literal, $words:expr) => {
        $crate::describe::Fields::read_fields($object, $reader)
    };
    (required, $object:ident, $reader:ident, $key:literal, $words:expr) => {
        $object.required($key, $words, $reader)
    };
    (named, $object:ident, $reader:ident, $key:literal, $words:expr) => {
        $object.name($key, $reader)
    };
    (naming, $object:ident, $reader:ident, $key:literal, $words:expr) => {
        $object.read_naming($key, $words, $reader).unwrap_or_default()
    };
    (default($default:expr), $object:ident, $reader:ident, $key:literal, $words:expr) => {
        $object.read($key, $words, $reader).unwrap_or_else(|| $default)
    };
    ($absent:ident, $object:ident, $reader:ident, $key:literal, $words:expr) => {
        $object.read($key, $words, $reader).unwrap_or_default()
    };
}

/// The type of what [`read_field`] gives.
macro_rules! typed_field {
    (flat, $field:expr, $value:expr) => {
        $crate::describe::typed_if($field, $value)
    };
    (required, $field:expr, $value:expr) => {
        $crate::describe::typed_if($field, $value)
    };
    (named, $field:expr, $value:expr) => {
        $crate::describe::typed_if($field, $value)
    };
    ($other:ident, $field:expr, $value:expr) => {
        $crate::describe::typed($field, $value)
    };
}

/// The value of a field that was read; ends the function if an object cannot be without it.
macro_rules! take_field {
    (flat $field:ident) => {
        $field?
    };
    (required $field:ident) => {
        $field?
    };
    (named $field:ident) => {
        $field?
    };
    ($other:ident $field:ident) => {
        $field
    };
}

/// Adds a field to a schema.
macro_rules! describe_field {
    (flat, $ty:expr, $schemas:ident, $object:ident, $key:literal, $docs:expr) => {
        $crate::describe::describe_flat($ty, $schemas, $object)
    };
    (named, $ty:expr, $schemas:ident, $object:ident, $key:literal, $docs:expr) => {{
        let mut schema = $crate::describe::schema_of($ty, $schemas);
        if let Some(schema) = schema.as_object_mut() {
            schema.insert("minLength".to_owned(), 1.into());
        }
        $object.property($key, schema, &$docs, true);
    }};
    ($mode:ident, $ty:expr, $schemas:ident, $object:ident, $key:literal, $docs:expr) => {{
        let schema = $crate::describe::schema_of($ty, $schemas);
        let required = stringify!($mode) == "required";
        $object.property($key, schema, &$docs, required);
    }};
}

/// Adds the fields of a part to the schema of an object.
pub(crate) fn describe_flat<S, T: Fields>(
    _: fn(&S) -> &T,
    schemas: &mut Schemas,
    object: &mut ObjectSchema,
) {
    T::describe(schemas, object);
}

/// What [`Json`] needs of an object: its [`Fields`].
macro_rules! object_functions {
    ($name:literal) => {
        fn write<S: serde::Serializer>(
            &self,
            mode: $crate::describe::Mode,
            serializer: S,
        ) -> Result<S::Ok, S::Error> {
            use serde::ser::SerializeMap;
            let mut map = serializer.serialize_map(None)?;
            $crate::describe::Fields::write_fields(self, mode, &mut map)?;
            map.end()
        }

        fn read(
            json: &agentir_syntax::json::Json,
            reader: &mut $crate::reader::Reader<'_>,
        ) -> Option<Self> {
            reader.object(json, $name)
        }

        fn schema(schemas: &mut $crate::schema::Schemas) -> serde_json::Value {
            <Self as $crate::describe::Fields>::definition(schemas)
        }
    };
}

/// Describes a struct: the name of its definition in the schema, and its fields with their keys. Documentation becomes
/// the description in the schema. `in` lists the words that a field may have as its value. `span` is a field that has
/// the location of the object; `skip` lists fields that are not in JSON; `key` is a field that has the key at which
/// the object is, and `keyed` takes the key; `absent` says when nothing is written; `before` prepares reading;
/// `then` completes what was read.
macro_rules! object {
    (
        $(#[doc = $doc:literal])*
        $ty:ty = $name:literal {
            $(
                $(#[doc = $field_doc:literal])*
                $field:ident as $key:literal: $mode:ident $(($default:expr))? $(in $words:expr)?;
            )*
        }
        $(span $span:ident;)?
        $(skip $skip:ident = $value:expr;)*
        $(key $name_field:ident;)?
        $(keyed $set_key:expr;)?
        $(absent $absent:expr;)?
        $(before $before:expr;)?
        $(then $then:expr;)?
    ) => {
        impl $crate::describe::Fields for $ty {
            fn write_fields<M: serde::ser::SerializeMap>(
                &self,
                mode: $crate::describe::Mode,
                map: &mut M,
            ) -> Result<(), M::Error> {
                $(write_field!($mode &self.$field, $key, mode, map);)*
                let _ = (mode, map);
                Ok(())
            }

            fn read_fields(
                object: &mut $crate::reader::Object<'_>,
                reader: &mut $crate::reader::Reader<'_>,
            ) -> Option<Self> {
                $(
                    let prepare: fn(&mut $crate::reader::Reader<'_>) = $before;
                    prepare(reader);
                )?
                $(
                    let $field = typed_field!(
                        $mode,
                        |this: &Self| &this.$field,
                        read_field!($mode $(($default))?, object, reader, $key, words!($($words)?))
                    );
                )*
                // Before the function may end.
                $(let $span = object.place(reader);)?
                #[allow(unused_mut, reason = "only some objects are completed")]
                let mut this = Self {
                    $($field: take_field!($mode $field),)*
                    $($span,)?
                    $($skip: $value,)*
                };
                $(
                    let complete: fn(&mut Self, &$crate::reader::Object<'_>, &mut $crate::reader::Reader<'_>) = $then;
                    complete(&mut this, object, reader);
                )?
                Some(this)
            }

            fn describe(
                schemas: &mut $crate::schema::Schemas,
                object: &mut $crate::schema::ObjectSchema,
            ) {
                $(
                    schemas.words = words!($($words)?);
                    describe_field!($mode, |this: &Self| &this.$field, schemas, object, $key, [$($field_doc),*]);
                )*
                $(object.placed(schemas, stringify!($span));)?
                let _ = (schemas, object);
            }

            fn definition(schemas: &mut $crate::schema::Schemas) -> serde_json::Value {
                schemas.object::<Self>($name, &[$($doc),*])
            }
        }

        impl $crate::describe::Json for $ty {
            object_functions!($name);

            $(
                fn unread(
                    span: agentir_diagnostics::Span,
                    reader: &mut $crate::reader::Reader<'_>,
                ) -> Option<Self> {
                    $crate::reader::Object::empty(span, $name).fields(reader)
                }

                fn set_key(
                    &mut self,
                    key: &agentir_diagnostics::Spanned<agentir_expr::Name>,
                    _: &mut $crate::reader::Reader<'_>,
                ) {
                    self.$name_field = key.clone();
                }
            )?

            $(fn set_key(
                &mut self,
                key: &agentir_diagnostics::Spanned<agentir_expr::Name>,
                reader: &mut $crate::reader::Reader<'_>,
            ) {
                let set: fn(
                    &mut Self,
                    &agentir_diagnostics::Spanned<agentir_expr::Name>,
                    &mut $crate::reader::Reader<'_>,
                ) = $set_key;
                set(self, key, reader);
            })?

            $(fn is_absent(&self) -> bool {
                let is_absent: fn(&Self) -> bool = $absent;
                is_absent(self)
            })?
        }
    };
}

/// Describes an enum whose values are words.
macro_rules! words_of {
    (
        $(#[doc = $doc:literal])*
        $ty:ident = $name:literal { $($(#[doc = $word_doc:literal])* $variant:ident = $word:literal,)* }
    ) => {
        impl $crate::describe::Json for $ty {
            fn write<S: serde::Serializer>(
                &self,
                _: $crate::describe::Mode,
                serializer: S,
            ) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(match self { $(Self::$variant => $word,)* })
            }

            fn read(
                json: &agentir_syntax::json::Json,
                reader: &mut $crate::reader::Reader<'_>,
            ) -> Option<Self> {
                match reader.word(json, &[$($word),*])?.value {
                    $($word => Some(Self::$variant),)*
                    _ => None,
                }
            }

            fn schema(schemas: &mut $crate::schema::Schemas) -> serde_json::Value {
                schemas.words($name, &[$($doc),*], &[$(($word, &[$($word_doc),*])),*])
            }
        }
    };
}

/// Describes an enum whose values are objects with a key that tells the variants apart. The fields of a variant are
/// described as those of a struct, or `as` those of a type.
macro_rules! tagged {
    (
        $(#[doc = $doc:literal])*
        $ty:ident = $name:literal by $tag:literal {
            $(
                $(#[doc = $variant_doc:literal])*
                $variant:ident = $word:literal $(as $inner:ty)? $({
                    $(
                        $(#[doc = $field_doc:literal])*
                        $field:ident as $key:literal: $mode:ident;
                    )*
                    $(; $span:ident)?
                })?;
            )*
        }
    ) => {
        impl $crate::describe::Fields for $ty {
            fn write_fields<M: serde::ser::SerializeMap>(
                &self,
                mode: $crate::describe::Mode,
                map: &mut M,
            ) -> Result<(), M::Error> {
                match self {
                    $(
                        $(Self::$variant(inner) => {
                            map.serialize_entry($tag, $word)?;
                            <$inner as $crate::describe::Fields>::write_fields(inner, mode, map)?;
                        })?
                        $(Self::$variant { $($field,)* .. } => {
                            map.serialize_entry($tag, $word)?;
                            $(write_field!($mode $field, $key, mode, map);)*
                        })?
                    )*
                }
                Ok(())
            }

            fn read_fields(
                object: &mut $crate::reader::Object<'_>,
                reader: &mut $crate::reader::Reader<'_>,
            ) -> Option<Self> {
                match object.tag($tag, &[$($word),*], reader)? {
                    $(
                        $word => {
                            $(return <$inner as $crate::describe::Fields>::read_fields(object, reader)
                                .map(Self::$variant);)?
                            $(
                                $(let $field = read_field!($mode, object, reader, $key, words!());)*
                                $(let $span = object.place(reader);)?
                                return Some(Self::$variant {
                                    $($field: take_field!($mode $field),)*
                                    $($span,)?
                                });
                            )?
                        }
                    )*
                    _ => None,
                }
            }

            fn describe(
                schemas: &mut $crate::schema::Schemas,
                object: &mut $crate::schema::ObjectSchema,
            ) {
                $({
                    #[allow(unused_mut, reason = "a variant may have no fields")]
                    let mut variant = $crate::schema::ObjectSchema::tagged($tag, $word);
                    $(variant.reference(<$inner as $crate::describe::Fields>::definition(schemas));)?
                    $($(
                        schemas.words = &[];
                        let schema = $crate::describe::schema_in(
                            |this: &Self| match this {
                                Self::$variant { $field, .. } => Some($field),
                                #[allow(unreachable_patterns, reason = "there may be one variant")]
                                _ => None,
                            },
                            schemas,
                        );
                        let required = matches!(stringify!($mode), "required" | "named");
                        variant.property($key, schema, &[$($field_doc),*], required);
                    )*)?
                    object.variant(variant, &[$($variant_doc),*]);
                })*
            }

            fn definition(schemas: &mut $crate::schema::Schemas) -> serde_json::Value {
                schemas.object::<Self>($name, &[$($doc),*])
            }
        }

        impl $crate::describe::Json for $ty {
            object_functions!($name);
        }
    };
}

pub(crate) use {
    describe_field, object, object_functions, read_field, tagged, take_field, typed_field, words,
    words_of, write_field,
};
