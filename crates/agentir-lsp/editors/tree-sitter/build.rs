//! Compiles the parsers.

fn main() {
    for grammar in ["abl", "agent-script"] {
        let source = format!("{grammar}/src");
        let files = [format!("{source}/parser.c"), format!("{source}/scanner.c")];
        cc::Build::new()
            .std("c11")
            .include(&source)
            .files(&files)
            .flag_if_supported("-Wno-unused-parameter")
            .compile(&format!("tree-sitter-{grammar}"));
        for file in files {
            println!("cargo::rerun-if-changed={file}");
        }
    }
    println!("cargo::rerun-if-changed=common/layout.h");
}
