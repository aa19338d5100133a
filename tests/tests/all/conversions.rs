//! `docs/conversions.md` says what conversions keep.

use agentir_tests::conversions::document;
use agentir_tests::documents::assert_fresh;
use agentir_tests::samples::root;

#[test]
fn the_table_of_conversions_is_up_to_date() {
    let page = root().join("docs/conversions.md");
    assert_fresh(&page, &document(), "`cargo xtask conversions`");
}
