//! Fields collected from the user, and their validation.

use crate::describe::*;
use crate::words;
use agentir_expr::dialect::Construct;
use agentir_ir::{Attachment, Gather, GatherField, MaskConfig, Semantics, Validation};

object! {
    /// Fields that are collected together.
    Gather = "Gather" {
        /// The fields, in order.
        fields as "fields": default(Default::default());
        /// How values are extracted from messages: `pattern`, `llm`, `hybrid`, …
        strategy as "strategy": optional in words::EXTRACTION;
        /// The prompt that asks for all fields.
        prompt as "prompt": optional;
        /// The key of that prompt's message.
        message_key as "message_key": optional;
        /// Patterns that indicate a correction.
        correction_patterns as "correction_patterns": list;
        /// Dialect-specific data that AgentIR has no field for.
        extensions as "extensions": list;
    }
}

object! {
    /// A field to collect.
    GatherField = "GatherField" {
        /// The name, which is also the variable that receives the value.
        name as "name": named;
        /// The entity that defines the values.
        entity_ref as "entity_ref": optional;
        /// The prompt.
        prompt as "prompt": optional;
        /// The key of the prompt's message.
        message_key as "message_key": optional;
        /// A description.
        description as "description": optional;
        /// The type; absent if an entity defines it or it is unknown.
        ty as "type": optional;
        /// Whether a value is required; `true` by default.
        required as "required": default(true);
        /// The default value.
        default as "default": optional;
        /// The validation of values.
        validation as "validation": optional;
        /// The allowed values.
        enum_values as "enum_values": list;
        /// Synonyms of each value.
        synonyms as "synonyms": optional;
        /// Hints for extraction.
        extraction_hints as "extraction_hints": list;
        /// A pattern that extracts the value.
        extraction_pattern as "extraction_pattern": optional;
        /// The capture group of that pattern.
        extraction_group as "extraction_group": optional;
        /// The extraction strategy, where it differs from the default.
        strategy as "strategy": optional in words::EXTRACTION;
        /// Whether the model may infer the value.
        infer as "infer": optional;
        /// The minimum confidence of an inferred value.
        infer_confidence as "infer_confidence": optional;
        /// Whether the user must confirm an inferred value.
        infer_confirm as "infer_confirm": optional;
        /// The meaning of the values.
        semantics as "semantics": optional;
        /// Settings for ranges of values.
        range as "range": optional;
        /// Settings for lists of values.
        list as "list": optional;
        /// Settings for preferred values.
        preferences as "preferences": optional;
        /// When the field is asked for.
        activation as "activation": optional;
        /// The fields that must be collected first.
        depends_on as "depends_on": list;
        /// `ask` or `extract_only`.
        prompt_mode as "prompt_mode": optional in &["ask", "extract_only"];
        /// Who may provide the value: `user_input`, `authoritative_tool`, `system`.
        satisfied_by as "satisfied_by": optional in &["user_input", "authoritative_tool", "system"];
        /// Whether values are personal or regulated data.
        sensitive as "sensitive": optional;
        /// How sensitive values are shown: `redact`, `replace`, `mask`.
        sensitive_display as "sensitive_display": optional in words::SENSITIVE_DISPLAY;
        /// How sensitive values are masked.
        mask_config as "mask_config": optional;
        /// The category of personal data.
        pii_type as "pii_type": optional;
        /// Whether the value is discarded after use.
        transient as "transient": optional;
        /// Settings for speech output.
        voice_config as "voice_config": optional;
        /// Rich content for channels that show more than text.
        rich_content as "rich_content": optional;
        /// Dialect-specific data that AgentIR has no field for.
        extensions as "extensions": list;
    }
    span span;
    then |field, object, reader| {
        // Where entities can be declared, fields have the same types.
        if reader.dialect.has(Construct::Entities)
            && let Some(ty) = field.ty.as_mut().filter(|ty| !ty.value.contains("{{"))
        {
            reader.check_word("type", ty, agentir_ir::FIELD_TYPES);
        }
        if !object.has("validation") {
            // A field that lists its values takes no others.
            field.validation = Validation::of_values(&field.enum_values, field.name.span);
        }
    };
}

object! {
    /// The validation of a value.
    Validation = "Validation" {
        /// `pattern`, `range`, `enum`, `custom`, `llm`, `intrinsic`.
        kind as "type": required;
        /// The pattern, range, values, expression or instruction.
        rule as "rule": required;
        /// The message on failure.
        error_message as "error_message": optional;
        /// The prompt for another attempt.
        retry_prompt as "retry_prompt": optional;
        /// The maximum number of retries.
        max_retries as "max_retries": optional;
        /// `REGEX`, `CODE`, `LLM`.
        validation_process as "validation_process": optional;
        /// Dialect-specific data that AgentIR has no field for.
        extensions as "extensions": list;
    }
    skip check = None;
    then |validation, object, reader| {
        reader.check_word("type", &mut validation.kind, words::VALIDATIONS);
        if validation.validation_process.is_some()
            && let Some(process) = object.node("validation_process")
        {
            reader.within("validation_process", |reader| {
                reader.word(process, &["REGEX", "CODE", "LLM"])
            });
        }
        if validation.kind.value.eq_ignore_ascii_case("custom") {
            validation.check = reader.custom_check(&validation.rule);
        }
    };
}

object! {
    /// How sensitive values are masked.
    MaskConfig = "MaskConfig" {
        /// The number of characters shown at the start.
        show_first as "show_first": optional;
        /// The number of characters shown at the end.
        show_last as "show_last": optional;
        /// The masking character.
        char as "char": optional;
    }
}

object! {
    /// The meaning of a field's values.
    Semantics = "Semantics" {
        /// `airport_code`, `address`, …
        format as "format": optional;
        /// The components.
        components as "components": list;
        /// The unit.
        unit as "unit": optional;
        /// The lookup table of the values.
        lookup as "lookup": optional;
        /// The unit values are converted to.
        convert_to as "convert_to": optional;
        /// The locale of the notation.
        locale as "locale": optional;
        /// `future`, `past`, `any`.
        temporal as "temporal": optional in &["future", "past", "any"];
        /// The values.
        enum_set as "enum_set": list;
        /// The entity type on the source platform.
        kore_entity_type as "kore_entity_type": optional;
        /// Dialect-specific data that AgentIR has no field for.
        extensions as "extensions": list;
    }
}

object! {
    /// A file the user is asked for.
    Attachment = "Attachment" {
        /// The name.
        name as "name": named;
        /// The prompt.
        prompt as "prompt": optional;
        /// `image`, `document`, `audio`, `video`.
        category as "category": default("document") in &["image", "document", "audio", "video"];
        /// Whether the file is required.
        required as "required": default(true);
        /// The allowed MIME types.
        allowed_mime_types as "allowed_mime_types": default(Default::default());
        /// The maximum size, in bytes.
        max_file_size_bytes as "max_file_size_bytes": optional;
        /// How the file is processed.
        processing as "processing": optional;
        /// Dialect-specific data that AgentIR has no field for.
        extensions as "extensions": list;
    }
    span span;
}
