//! Exports of Kore.ai's XO platform as a dialect.

use agentir_expr::dialect::{DialectTables, Traits};

/// Its name in data.
pub(crate) const ID: &str = "kore-xo";

/// Its name in messages.
pub(crate) const TITLE: &str = "Kore.ai XO";

/// The tables of the dialect, given those of the language that exports are translated to. The import writes expressions
/// in its notation and gives agents its behaviour. Nobody writes an export by hand.
#[must_use]
pub const fn tables(base: DialectTables) -> DialectTables {
    let traits = Traits { is_authored: false, ..base.traits };
    DialectTables { id: ID, title: TITLE, traits, constructs: &[], ..base }
}
