//! Names of tools in code: where a file that implements tools uses their names for itself.

use std::ops::Range;

/// The name of a tool, or of one of its parameters.
#[derive(Debug, Clone, Copy)]
pub struct CodeName<'a> {
    /// The name of the tool.
    pub tool: &'a str,
    /// The name of the parameter, if it is one.
    pub parameter: Option<&'a str>,
}

/// What a file's code does with the name of a tool or parameter.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CodeUses {
    /// Where the name refers to the tool or parameter, the definition included.
    pub uses: Vec<Range<usize>>,
    /// The first place where it is not known whether it does.
    pub unclear: Option<Range<usize>>,
    /// The first place where the new name already means something that the tool or parameter would hide, or be
    /// hidden by.
    pub taken: Option<Range<usize>>,
}

/// A reference of a file's code to a tool, or to one of its parameters, that the same file implements.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CodeReference {
    /// The name of the tool.
    pub tool: String,
    /// The name of the parameter, if it is one.
    pub parameter: Option<String>,
    /// Where the name stands.
    pub at: Range<usize>,
}
