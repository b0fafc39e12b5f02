//! Compiles the style sheet and our own icons into the program.

fn main() {
    glib_build_tools::compile_resources(
        &["resources"],
        "resources/signaltty.gresource.xml",
        "signaltty.gresource",
    );
    println!("cargo::rerun-if-changed=resources");
}
