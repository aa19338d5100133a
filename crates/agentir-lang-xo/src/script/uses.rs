//! What a script does with the values that it reads, and which of its names are numbers.

use super::{MAX_DEPTH, Reader, Role, Use, is_length};
use crate::tables::{LIST_METHODS, TEXT_METHODS};
use agentir_expr::{BinaryOp, Path, Segment};
use tree_sitter::Node;

impl Reader<'_> {
    /// What is done with the value of a path that is read at a node; of a method, with the object that has it.
    pub(super) fn use_of(&self, node: Node<'_>, path: &Path, role: Role) -> Use {
        if path.segments.last().is_some_and(is_length) {
            return Use::Any;
        }
        if role != Role::Called {
            return self.use_around(node);
        }
        match path.segments.last() {
            Some(Segment::Field(method)) if LIST_METHODS.contains(&method.value.as_str()) => {
                Use::List
            }
            Some(Segment::Field(method)) if TEXT_METHODS.contains(&method.value.as_str()) => {
                Use::Text
            }
            Some(Segment::Field(method)) if method.value == "toFixed" => Use::Number,
            _ => Use::Any,
        }
    }

    /// What is done with the value of a node.
    pub(super) fn use_around(&self, node: Node<'_>) -> Use {
        let mut at = node;
        let parent = loop {
            match at.parent() {
                Some(outer) if outer.kind() == "parenthesized_expression" => at = outer,
                Some(outer) => break outer,
                None => return Use::Any,
            }
        };
        match parent.kind() {
            "unary_expression" => {
                let operator = parent.child_by_field_name("operator").map(|o| self.slice(o));
                if matches!(operator, Some("-" | "+")) { Use::Number } else { Use::Any }
            }
            "update_expression" => Use::Number,
            "for_in_statement" => {
                let over = parent.child_by_field_name("right");
                let is_of = parent.child_by_field_name("operator").map(|o| self.slice(o));
                if over == Some(at) && is_of == Some("of") { Use::List } else { Use::Any }
            }
            "binary_expression" => self.use_in(parent, at),
            _ => Use::Any,
        }
    }

    /// What an operator does with one of its operands.
    pub(super) fn use_in(&self, operation: Node<'_>, operand: Node<'_>) -> Use {
        let side = |name| operation.child_by_field_name(name);
        let (Some(left), Some(right), Some(operator)) =
            (side("left"), side("right"), side("operator"))
        else {
            return Use::Any;
        };
        let is_left = left == operand;
        let other = if is_left { right } else { left };
        let number = match other.kind() {
            "number" => self.slice(other).parse().ok(),
            "string" => self.string(other).and_then(|text| text.trim().parse().ok()),
            _ => None,
        };
        let compared = |left, right| {
            let op = if is_left { left } else { right };
            match number {
                Some(number) => Use::Compared(op, number),
                None if other.kind() == "string" => Use::Text,
                None => Use::Any,
            }
        };
        match self.slice(operator) {
            "-" | "*" | "/" | "%" | "**" => Use::Number,
            "==" | "===" => compared(BinaryOp::Equal, BinaryOp::Equal),
            "!=" | "!==" => compared(BinaryOp::NotEqual, BinaryOp::NotEqual),
            "<" => compared(BinaryOp::Less, BinaryOp::Greater),
            "<=" => compared(BinaryOp::LessEqual, BinaryOp::GreaterEqual),
            ">" => compared(BinaryOp::Greater, BinaryOp::Less),
            ">=" => compared(BinaryOp::GreaterEqual, BinaryOp::LessEqual),
            _ => Use::Any,
        }
    }

    /// Collects which local names hold numbers. Iterative, since scripts may be nested to any depth.
    pub(super) fn collect_numbers(&mut self, root: Node<'_>) {
        let mut open = vec![root];
        while let Some(node) = open.pop() {
            let field = |name: &str| node.child_by_field_name(name);
            let unknown = match node.kind() {
                "variable_declarator" | "assignment_expression" => {
                    let (name, value) = (
                        field("name").or_else(|| field("left")),
                        field("value").or_else(|| field("right")),
                    );
                    if let (Some(name), Some(value)) = (name, value) {
                        let is_number = self.is_number(value, 0);
                        self.note_number(name, is_number);
                    }
                    None
                }
                "augmented_assignment_expression" | "for_in_statement" => field("left"),
                "arrow_function" => field("parameter"),
                _ => None,
            };
            if let Some(name) = unknown {
                self.note_number(name, None);
            }
            let mut cursor = node.walk();
            let all: Vec<_> = node.named_children(&mut cursor).collect();
            if node.kind() == "formal_parameters" {
                all.iter().for_each(|name| self.note_number(*name, None));
            }
            open.extend(all.into_iter().rev());
        }
    }

    pub(super) fn note_number(&mut self, name: Node<'_>, is_number: Option<bool>) {
        if name.kind() == "identifier" {
            let known = self.numbers.entry(self.slice(name)).or_insert(is_number);
            *known = known.filter(|known| is_number == Some(*known));
        }
    }

    /// Whether a value is a number; `None` if that is not known.
    pub(super) fn is_number(&self, node: Node<'_>, depth: u16) -> Option<bool> {
        if depth > MAX_DEPTH {
            return None;
        }
        match node.kind() {
            "number" | "update_expression" => Some(true),
            "string" | "template_string" | "object" | "array" | "true" | "false" | "null"
            | "undefined" => Some(false),
            "parenthesized_expression" => self.is_number(node.named_child(0)?, depth + 1),
            "identifier" => self.numbers.get(self.slice(node)).copied().flatten(),
            "unary_expression" => {
                matches!(self.slice(node.child_by_field_name("operator")?), "-" | "+")
                    .then_some(true)
            }
            "binary_expression" => match self.slice(node.child_by_field_name("operator")?) {
                "-" | "*" | "/" | "%" | "**" => Some(true),
                "+" => {
                    let operand = |name| self.is_number(node.child_by_field_name(name)?, depth + 1);
                    (operand("left") == Some(true) && operand("right") == Some(true))
                        .then_some(true)
                }
                _ => None,
            },
            "call_expression" => {
                let called = self.slice(node.child_by_field_name("function")?);
                let number = matches!(called, "parseInt" | "parseFloat" | "Number");
                (number || called.starts_with("Math.")).then_some(true)
            }
            _ => None,
        }
    }
}
