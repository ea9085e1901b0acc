//! Size, alignment and offsets of each struct are those of the C compiler, and the version is that of the headers.
use fovea_sys::*;
use std::env;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

struct Layout {
    name: &'static str,
    size: usize,
    alignment: usize,
    fields: Vec<(&'static str, usize)>,
}

impl Layout {
    fn lines(&self) -> String {
        let mut lines = format!("{} {} {}\n", self.name, self.size, self.alignment);
        for (field, offset) in &self.fields {
            writeln!(lines, "{}.{} {}", self.name, field, offset).unwrap();
        }
        lines
    }

    /// C that prints the same lines.
    fn program(&self) -> String {
        let name = self.name;
        let mut lines = format!("  {{ struct aligned {{ char first; {name} second; }};\n");
        writeln!(lines, "    printf(\"{name} %zu %zu\\n\", sizeof({name}), offsetof(struct aligned, second)); }}")
            .unwrap();
        for (field, _) in &self.fields {
            let field_of_c = field.trim_end_matches('_');
            writeln!(lines, "  printf(\"{name}.{field} %zu\\n\", offsetof({name}, {field_of_c}));").unwrap();
        }
        lines
    }
}

fn layouts() -> Vec<Layout> {
    let mut all = Vec::new();
    macro_rules! layout {
        ($name:ident: $($field:ident),* $(,)?) => {{
            let made = std::mem::MaybeUninit::<$name>::uninit();
            let at = made.as_ptr();
            all.push(Layout {
                name: stringify!($name),
                size: std::mem::size_of::<$name>(),
                alignment: std::mem::align_of::<$name>(),
                fields: vec![$((
                    stringify!($field),
                    // SAFETY: only an address is computed.
                    unsafe { std::ptr::addr_of!((*at).$field) as usize - at as usize },
                )),*],
            });
        }};
    }
    include!("fields.rs.inc");
    all
}

#[test]
fn structs_have_the_layout_of_c() {
    let layouts = layouts();
    assert!(layouts.len() > 30);
    let mut source =
        String::from("#include <fovea/fovea.h>\n#include <stddef.h>\n#include <stdio.h>\nint main(void) {\n");
    let mut expected = String::new();
    for layout in &layouts {
        source += &layout.program();
        expected += &layout.lines();
    }
    source += "  return 0;\n}\n";
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let (file, program) = (folder.join("layout.c"), folder.join("layout"));
    fs::write(&file, source).unwrap();
    let compiler = env::var("CC").unwrap_or_else(|_| "cc".into());
    let include = option_env!("FOVEA_INCLUDE").expect("the headers are installed beside the library");
    let compiled = Command::new(compiler).args(["-std=c11", "-I", include, "-o"]).arg(&program).arg(&file).status();
    assert!(compiled.unwrap().success());
    let printed = Command::new(&program).output().unwrap();
    assert_eq!(String::from_utf8(printed.stdout).unwrap(), expected);
}

#[test]
fn the_library_is_that_of_the_declarations() {
    // SAFETY: returns a static string.
    let version = unsafe { std::ffi::CStr::from_ptr(fovea_version()) }.to_str().unwrap();
    assert_eq!(version, format!("{FOVEA_VERSION_MAJOR}.{FOVEA_VERSION_MINOR}.{FOVEA_VERSION_PATCH}"));
    assert_eq!(fovea_session_options::default().struct_size, std::mem::size_of::<fovea_session_options>());
}
