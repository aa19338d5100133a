//! What stands at an offset of a document, and what may be written there.
//!
//! The reader reads a copy of the text with a marker at the offset; this module finds the marker in the tree.

pub(crate) mod shapes;

use crate::schema::{
    FieldDef, FieldType, GUARDRAIL, Header, NameKind, Naming, Need, Part, RecordType, TOOL,
    VALIDATION, Version, docs,
};
use crate::tree::{Document, Field, Format, HeaderValue, Record, Value};
use crate::{Arena, Options, classify, outline, reader};
use agentir_diagnostics::{FileId, Span};
use agentir_syntax::ReadOptions;
use agentir_syntax::context::{
    Context, Cursor, Expected, ExpectedKind, FieldContext, MARKER, Marked, Position, RecordContext,
    Shape, in_words, without_dashes,
};
use agentir_syntax::outline::{Entry, EntryKind, parse_yaml};
use shapes::Place;
use smol_str::SmolStr;

const FILE: FileId = FileId(0);

/// What stands at an offset of a document.
pub(crate) fn context(
    format: Format,
    text: &str,
    offset: u32,
    options: ReadOptions,
) -> Option<Context> {
    let cursor = Cursor::new(text, offset)?;
    let cursor = whole_key(cursor);
    cursor.marked().find_map(|marked| read(format, &cursor, &marked, options))
}

/// The field with what humans are told when they take over (§3.11.2).
const HUMAN_CONTEXT: &str = "context_for_human";

/// The field with a file of tools, and those that are used of it (§3.5).
const IMPORTED: &str = "file";

/// The fields in which an agent may name itself: who updates a variable, who begins a protocol, and the events
/// of its memory.
const ABOUT_ITSELF: &[&str] = &["updated_by", "from", "on"];

/// The keys of two words, as in `USE BEHAVIOR_PROFILE:`.
const FIRST_WORDS: &[&str] = &["use", "voice"];

/// A key of two words is one word.
fn whole_key(cursor: Cursor<'_>) -> Cursor<'_> {
    let before = cursor.content_before();
    let word = cursor.word(FILE).range();
    let is_first = |word: &str| FIRST_WORDS.iter().any(|one| one.eq_ignore_ascii_case(word));
    if is_first(before.trim_end()) && before.len() > before.trim_end().len() {
        let start = word.start - before.len();
        return cursor.with_word(start..word.end);
    }
    if before.is_empty() && is_first(cursor.word_text()) {
        let after = cursor.after();
        let key = after.split(':').next().unwrap_or_default();
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        if key.len() < after.len() && key.trim_start().chars().all(is_word) {
            return cursor.with_word(word.start..word.end + key.len());
        }
    }
    cursor
}

fn read(
    format: Format,
    cursor: &Cursor<'_>,
    marked: &Marked,
    options: ReadOptions,
) -> Option<Context> {
    let mut problems = Vec::new();
    let outline = match format {
        Format::Abl => outline::parse(FILE, &marked.text, &mut problems),
        Format::Yaml => parse_yaml(FILE, &marked.text, &mut problems),
    };
    if outline.comments.iter().any(|comment| marked.is_in(*comment)) {
        return None;
    }
    let arena = Arena::new();
    let fragment = options.fragment || classify(&outline).is_none();
    let options = Options { version: options.version, fragment };
    let document = reader::read(&outline, format, options, &arena, &mut problems)?;
    let mut search =
        Search { marked, cursor, records: Vec::new(), tool: None, declared: None, agent: None };
    let spot = search.record(&document.root, None)?;
    Some(search.answer(&document, options.version, spot))
}

/// Where the marker is.
enum Spot<'t, 'd> {
    /// A key of a record.
    Key(&'d Record<'t>),
    /// A key of an item of a record, or its name.
    Item(&'d Record<'t>),
    /// The value of a field.
    Value(&'d Record<'t>, &'d Field<'t>),
    /// What an item of a record begins with.
    Header(&'d Record<'t>),
}

struct Search<'m, 'c, 't> {
    marked: &'m Marked,
    cursor: &'c Cursor<'t>,
    records: Vec<RecordContext>,
    /// The tool that the innermost record around the marker calls that calls one.
    tool: Option<SmolStr>,
    /// The tool that is declared around the marker.
    declared: Option<SmolStr>,
    /// The agent that the innermost record around the marker addresses that addresses one.
    agent: Option<SmolStr>,
}

impl Search<'_, '_, '_> {
    fn record<'t, 'd>(
        &mut self,
        record: &'d Record<'t>,
        key: Option<SmolStr>,
    ) -> Option<Spot<'t, 'd>> {
        let key = record.name.as_ref().map(|name| name.value.clone()).or(key);
        let key = key.filter(|key| key != MARKER);
        let span = self.marked.original(record.span);
        self.records.push(RecordContext { title: record.ty.name, key, span });
        let spot = self.within(record);
        match spot {
            Some(_) => {
                self.tool = self.tool.take().or_else(|| called(record));
                self.agent = self.agent.take().or_else(|| addressed(record));
                self.declared = self.declared.take().or_else(|| declared(record));
            }
            None => {
                self.records.pop();
            }
        }
        spot
    }

    fn within<'t, 'd>(&mut self, record: &'d Record<'t>) -> Option<Spot<'t, 'd>> {
        let at = self.marked.at;
        if record.unknown.iter().any(|entry| is_marker(entry, at)) {
            return Some(Spot::Key(record));
        }
        for item in &record.items {
            let named = item.name.as_ref().is_some_and(|name| self.marked.is_in(name.span));
            if named && self.marked.as_key && !self.cursor.is_first_of_item() {
                return Some(Spot::Item(record));
            }
            if ((named && self.marked.as_key) || self.marked.is_in(item.span))
                && let Some(spot) = self.record(item, None)
            {
                return Some(spot);
            }
        }
        let named = record.name.as_ref().is_some_and(|name| self.marked.is_in(name.span));
        if named && self.marked.as_key {
            return Some(Spot::Key(record));
        }
        // Fields may be nested below other fields of the record.
        let inner = record
            .fields
            .iter()
            .filter(|field| self.marked.is_in(field.entry.span(FILE)))
            .min_by_key(|field| field.entry.end - field.entry.start);
        if let Some(field) = inner {
            if let Value::Record(inner) = &field.value
                && let Some(spot) = self.record(inner, Some(SmolStr::new(field.def.name)))
            {
                return Some(spot);
            }
            return Some(Spot::Value(record, field));
        }
        let headed = !record.headers.is_empty() && self.marked.is_in(record.span);
        headed.then_some(Spot::Header(record))
    }

    fn answer(
        mut self,
        document: &Document<'_>,
        version: Option<Version>,
        spot: Spot<'_, '_>,
    ) -> Context {
        let keys = Keys {
            document,
            cursor: self.cursor,
            first: self.cursor.is_first_of_item(),
            // What is written decides the version unless it is given, so newer forms are allowed.
            version: version.unwrap_or(document.version),
            newest: version.unwrap_or(Version::Newest),
        };
        let mut context = Context::new(self.cursor.word(FILE));
        match spot {
            Spot::Key(record) => keys.of(record, &mut context),
            Spot::Item(record) => keys.of(record, &mut context),
            Spot::Header(record) if self.marked.as_key => keys.of(record, &mut context),
            Spot::Header(record) => {
                context.position = Position::Value;
                let place = Place::new(self.cursor, None);
                place.header(record.ty, &mut context);
            }
            Spot::Value(record, field) => {
                let record_type = record_type(field.def.field_type);
                context.field =
                    Some(field_context(record.ty, field.def, self.marked.original(field.key)));
                // Only a line of its own or a list item is within the record that the value is.
                let below = self.cursor.since(field.key.end).contains('\n');
                if let (true, Some(ty), true) = (self.marked.as_key, record_type, below) {
                    let span = self.marked.original(field.entry.span(FILE));
                    let key = Some(SmolStr::new(field.def.name));
                    self.records.push(RecordContext { title: ty.name, key, span });
                    context.field = None;
                    keys.of(&Record::new(ty, field.span, None), &mut context);
                } else {
                    context.position = Position::Value;
                    let place = Place::new(self.cursor, Some(field.key));
                    place.value(field.def.field_type, field.def.names, &mut context);
                    place.parts(field.def.patterns, &mut context);
                    if self.declared.is_some() {
                        place.hole_of_tool(&mut context);
                    }
                    if field.def.name == HUMAN_CONTEXT {
                        place.told(&mut context);
                    }
                    let is_custom = |f: &&Field<'_>| matches!(&f.value, Value::Enum("custom"));
                    if std::ptr::eq(record.ty, &VALIDATION)
                        && record.field("type").is_some_and(|f| is_custom(&f))
                    {
                        place.value(FieldType::Expr, None, &mut context);
                    }
                    if std::ptr::eq(record.ty, &GUARDRAIL) && context.takes_expression() {
                        shapes::helpers_of_checks(keys.newest, &mut context);
                    }
                    if let Some(item) = record_type.and_then(|ty| ty.items) {
                        place.header(item, &mut context);
                    }
                    if field.def.name == IMPORTED {
                        place.imported(&mut context);
                    }
                    let names_agents = context.names().any(|kind| kind == NameKind::Agent);
                    if names_agents && !ABOUT_ITSELF.contains(&field.def.name) {
                        context.given.extend(own_name(document));
                    }
                    place.call(record, &mut context);
                    if let Value::Names(names) = &field.value {
                        let listed = names.iter().map(|name| name.value.clone());
                        context.given.extend(listed.filter(|name| name != MARKER));
                    }
                }
            }
        }
        if context.takes_expression() && context.tool.is_none() {
            context.result_of = self.tool;
        }
        // What another agent takes and gives.
        let is_part = |kind: NameKind| matches!(kind, NameKind::Parameter | NameKind::ResultField);
        if context.tool.is_none() && context.names().any(is_part) {
            context.tool = self.declared.or(self.agent);
        }
        context.records = self.records;
        context
    }
}

/// The name of the agent that a document describes.
fn own_name(document: &Document<'_>) -> Option<SmolStr> {
    let heads = reader::HEADS.iter().filter_map(|(word, _)| document.root.field(word));
    let mut names = heads.filter_map(|field| match &field.value {
        Value::Name(name) => Some(name.value.clone()),
        _ => None,
    });
    names.next().filter(|name| name != MARKER)
}

/// A field, whose key is at a span.
fn field_context(ty: &RecordType, def: &FieldDef, key: Span) -> FieldContext {
    let (doc, source) = docs().field(ty.name, def.name);
    FieldContext {
        name: def.name,
        key,
        shape: in_words(&shapes::of(def.field_type, def.names)),
        doc,
        source,
        required: def.need == Need::Required,
    }
}

/// Whether an entry is the line of the marker.
fn is_marker(entry: &Entry<'_>, at: u32) -> bool {
    match &entry.kind {
        EntryKind::Pair { key, .. } => key.span.start == at && key.text == MARKER,
        EntryKind::Line { text, .. } => text.span.start == at,
        EntryKind::Item { .. } => entry.start <= at && at < entry.end,
    }
}

/// The record that a value may be.
fn record_type(field_type: FieldType) -> Option<&'static RecordType> {
    match field_type {
        FieldType::Record(ty) => Some(ty),
        FieldType::OneOf(all) => all.iter().find_map(|one| record_type(*one)),
        _ => None,
    }
}

/// The keys that may be written.
struct Keys<'a, 'c, 't> {
    document: &'a Document<'a>,
    cursor: &'c Cursor<'t>,
    first: bool,
    version: Version,
    newest: Version,
}

impl Keys<'_, '_, '_> {
    /// Adds the keys that a record may have and lacks, and what its items may begin with.
    fn of(&self, record: &Record<'_>, context: &mut Context) {
        let ty = record.ty;
        let word = self.cursor.word_text();
        let field = |ty: &'static RecordType| ty.field(word).map(|def| (ty, def));
        if let Some((ty, def)) = field(ty).or_else(|| ty.items.and_then(field)) {
            context.field = Some(field_context(ty, def, self.cursor.word(FILE)));
        }
        self.fields(record, ty, "", context);
        // A dash that is written is not written again.
        let has_dash = self.cursor.before().trim_end().ends_with('-');
        let dash = if has_dash { "" } else { "- " };
        if let Some(item) = ty.items {
            context.shapes.push(Shape::Record(item.name));
            if item.naming == Naming::Anonymous && !self.first {
                let empty = Record::new(item, record.span, None);
                self.fields(&empty, item, dash, context);
                self.headers(item, dash, context);
            } else {
                self.headers(item, dash, context);
                self.names(item, context);
            }
        }
        if self.first {
            self.headers(ty, "", context);
            self.names(ty, context);
        }
    }

    /// Names that items of this type may consist of.
    fn names(&self, ty: &RecordType, context: &mut Context) {
        let by = ty.name_field.and_then(|name| ty.field(name)).and_then(|def| def.names);
        // A chain is a line of its own.
        if ty.headers.contains(&Header::Chain) {
            context.add_shape(Shape::Name(NameKind::Step));
        }
        // Entries below a key have their names before their colons.
        let is_key = ty.naming == Naming::Keyed && !self.first;
        if let Some(kind) = ty.refers_to.or(by.filter(|_| !is_key)) {
            context.add_shape(Shape::Name(kind));
        }
        // Keys that the language has names for.
        let known = ty.name_field.and_then(|name| ty.field(name)).filter(|_| is_key);
        let Some(known) = known else { return };
        for pattern in known.patterns {
            if let [Part::Word(word)] = pattern {
                let insert = self.inserted(word, "", false);
                let doc = docs().value(ty.name, known.name, word);
                let one = Expected::word(ExpectedKind::Value, *word, "").inserting(insert);
                context.expected.push(one.documented(doc));
            }
        }
    }

    fn fields(
        &self,
        record: &Record<'_>,
        ty: &'static RecordType,
        dash: &str,
        context: &mut Context,
    ) {
        let lower = self.is_lower(record, ty);
        let spelled = |name: &str| if lower { name.to_owned() } else { name.to_uppercase() };
        // `USE TOOL` in the notation of its own, `use_tool` in YAML.
        let written = |def: &FieldDef| {
            let in_words = def.aliases.iter().copied().find(|alias| alias.contains(' '));
            in_words.filter(|_| self.document.format == Format::Abl).unwrap_or(def.name)
        };
        let is_allowed = |def: &&FieldDef| {
            def.since <= self.newest && def.until.is_none_or(|(last, _)| self.version <= last)
        };
        let is_new = |def: &&FieldDef| {
            def.repeats || !record.fields.iter().any(|f| std::ptr::eq(f.def, *def))
        };
        let is_unnamed = |def: &&FieldDef| {
            let named = record.name.as_ref().is_some_and(|name| name.value != MARKER);
            !(named && ty.name_field == Some(def.name))
        };
        // A document describes one thing.
        let is_head = |def: &FieldDef| reader::HEADS.iter().any(|(word, _)| *word == def.name);
        let is_top = std::ptr::eq(ty, self.document.root.ty);
        let is_headed = is_top && record.fields.iter().any(|field| is_head(field.def));
        let is_other = |def: &&FieldDef| !(is_headed && is_head(def));
        let all = ty.fields.iter().filter(is_allowed).filter(is_new);
        let kind = self.document.kind;
        let is_of_kind = |def: &&FieldDef| !is_headed || def.only.is_none_or(|only| only == kind);
        let all = all.filter(is_unnamed).filter(is_other).filter(is_of_kind);
        for def in all {
            let shapes = shapes::of(def.field_type, def.names);
            let (doc, source) = docs().field(ty.name, def.name);
            let label = spelled(written(def));
            let inline = def.field_type.is_inline() || label.contains(' ');
            context.expected.push(Expected {
                insert: self.inserted(&label, dash, inline),
                label: label.into(),
                kind: ExpectedKind::Field,
                shape: in_words(&shapes),
                doc,
                source,
                required: def.need == Need::Required,
            });
        }
        if ty.has_implicit_name()
            && self.first
            && record.name.as_ref().is_none_or(|name| name.value == MARKER)
        {
            let label = spelled("name");
            let insert = self.inserted(&label, dash, true);
            let name = Expected::word(ExpectedKind::Field, label, "name").inserting(insert);
            context.expected.push(name.documented(docs().field(ty.name, "name")));
        }
    }

    /// A key with its colon, unless that is there.
    fn inserted(&self, label: &str, dash: &str, inline: bool) -> String {
        let colon = match (self.cursor.has_colon(), inline) {
            (true, _) => "",
            (false, true) => ": ",
            (false, false) => ":",
        };
        format!("{dash}{label}{colon}")
    }

    /// Keywords that an item begins with in place of a key.
    fn headers(&self, ty: &RecordType, dash: &str, context: &mut Context) {
        for header in ty.headers {
            for word in shapes::words_of(*header) {
                let end = if word == "INTENT" { "(" } else { " " };
                let insert = format!("{dash}{word}{end}");
                let one = Expected::word(ExpectedKind::Keyword, word, shapes::after(*header));
                context.expected.push(one.inserting(insert));
            }
        }
        if ty.headers.contains(&Header::Text) {
            context.shapes.push(Shape::Template);
        }
    }

    /// Whether keys are written in lower case here: as the others of the record or of other records of its type are,
    /// or as the notation has it.
    fn is_lower(&self, record: &Record<'_>, ty: &'static RecordType) -> bool {
        if self.document.format == Format::Yaml {
            return true;
        }
        let is_top = std::ptr::eq(ty, self.document.root.ty);
        let written = |record: &Record<'_>| {
            let mut keys = record.fields.iter().map(|field| self.written(field));
            keys.find(|key| !key.is_empty()).map(|key| key.chars().any(char::is_lowercase))
        };
        !is_top
            && written(record)
                .or_else(|| find_of_type(&self.document.root, ty, &written))
                .or_else(|| self.is_lower_above())
                .unwrap_or(false)
    }

    /// Whether the key above the offset, in its column, is in lower case. Keywords alone are in upper case.
    fn is_lower_above(&self) -> Option<bool> {
        let column = |line: &str| line.len() - without_dashes(line).len();
        let own = column(self.cursor.before());
        let start = self.cursor.word(FILE).range().start - self.cursor.before().len();
        let above = self.cursor.text.get(..start)?.lines().rev();
        let line = above.filter(|line| !line.trim().is_empty()).find(|line| column(line) <= own)?;
        let (key, _) = without_dashes(line).split_once(':')?;
        (column(line) == own).then(|| key.chars().any(char::is_lowercase))
    }

    fn written<'f>(&self, field: &'f Field<'_>) -> &'f str {
        match &field.entry.kind {
            EntryKind::Pair { key, .. } => key.text,
            _ => "",
        }
    }
}

/// The first answer of a record of a type below this one.
fn find_of_type<T>(
    record: &Record<'_>,
    ty: &'static RecordType,
    ask: &dyn Fn(&Record<'_>) -> Option<T>,
) -> Option<T> {
    if std::ptr::eq(record.ty, ty)
        && let Some(found) = ask(record)
    {
        return Some(found);
    }
    let nested = record.fields.iter().filter_map(|field| match &field.value {
        Value::Record(inner) => Some(&**inner),
        _ => None,
    });
    record.items.iter().chain(nested).find_map(|inner| find_of_type(inner, ty, ask))
}

/// The name of the agent that a record addresses.
fn addressed(record: &Record<'_>) -> Option<SmolStr> {
    let is_agent = |def: &FieldDef| def.names == Some(NameKind::Agent);
    let by_name =
        record.ty.name_field.and_then(|name| record.ty.field(name)).filter(|d| is_agent(d));
    let name = by_name.and(record.name.as_ref()).map(|name| name.value.clone());
    name.filter(|name| name != MARKER).or_else(|| {
        record.fields.iter().filter(|field| is_agent(field.def)).find_map(|field| {
            match &field.value {
                Value::Name(name) => Some(name.value.clone()),
                _ => None,
            }
        })
    })
}

/// The name of the tool that a record declares.
fn declared(record: &Record<'_>) -> Option<SmolStr> {
    if !std::ptr::eq(record.ty, &TOOL) {
        return None;
    }
    let signature = record.headers.iter().find_map(|header| match header {
        HeaderValue::Signature(signature) => Some(&signature.name),
        _ => None,
    });
    signature.or(record.name.as_ref()).map(|name| name.value.clone())
}

/// The name of the tool that a record calls.
fn called(record: &Record<'_>) -> Option<SmolStr> {
    match &record.field("call")?.value {
        Value::Call(call) => Some(call.tool.value.clone()),
        _ => None,
    }
}
