//! `cargo bench`; the same as `cargo xtask bench`.

/// The allocator of the program that is measured.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() {
    let external = std::env::var_os("AGENTIR_EXTERNAL_CORPUS").map(std::path::PathBuf::from);
    let options = agentir_bench::measure::Options::default();
    print!("{}", agentir_bench::measure::table(&options, external.as_deref()));
}
