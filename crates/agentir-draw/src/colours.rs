//! The colours of nodes, in every format that has colours.

use crate::graph_view::Shape;

/// What a shape is filled with and what its line is drawn with: dark text reads well on all of them.
pub(crate) const fn colours(shape: Shape) -> (&'static str, &'static str) {
    match shape {
        Shape::Agent => ("#dbe7ff", "#2f5fd0"),
        Shape::Step => ("#ffffff", "#57606a"),
        Shape::Action => ("#f3f4f6", "#8c959f"),
        Shape::Say => ("#e6f6ec", "#2da160"),
        Shape::Wait => ("#fff3d6", "#bf8700"),
        Shape::Tool => ("#e3f4fb", "#1b7ca8"),
        Shape::Decision => ("#f6f0ff", "#8250df"),
        Shape::Model => ("#fde8f3", "#bf3989"),
        Shape::Other => ("#e4ecff", "#4a6fd8"),
        Shape::Person => ("#ffe9dc", "#c4501b"),
        Shape::End => ("#d9f2ef", "#13795f"),
        Shape::Error => ("#ffe4e1", "#cf222e"),
        Shape::Unknown => ("#eeeeee", "#8c959f"),
    }
}
