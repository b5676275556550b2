//! A program of musl is a static one unless zig, which links it, is told otherwise; a static one can't open a library.

fn main() {
    if std::env::var("CARGO_CFG_TARGET_ENV").as_deref() == Ok("musl") {
        println!("cargo:rustc-link-arg-bins=-dynamic");
    }
}
