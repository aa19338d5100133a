//! `cargo bench`; the same as `cargo xtask bench`.

/// The allocator of the program that is measured.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() {
    let external = std::env::var_os("AGENTIR_EXTERNAL_CORPUS").map(std::path::PathBuf::from);
    let options = agentir_bench::Options::default();
    agentir_bench::tables(&options, external.as_deref(), |table| println!("{table}"));
}
