//! `leafgp report`: the page in a real browser, where there is one.

use std::path::Path;
use std::process::{Command, Output};

use crate::mixed::{MIXED, folder_with, mixed_history};
use crate::support::{Folder, PROBLEM};

/// The browser of Debian's package `chromium`, if it is installed.
fn chromium() -> Option<&'static Path> {
    ["/usr/bin/chromium", "/usr/bin/chromium-browser"].into_iter().map(Path::new).find(|path| path.exists())
}

/// Runs the browser without a window on a page of the folder.
fn browse(folder: &Folder, options: &[&str], page: &str) -> Output {
    let profile = format!("--user-data-dir={}", folder.path("profile").display());
    let url = format!("file://{}", folder.path(page).display());
    let mut command = Command::new(chromium().unwrap());
    command.args([
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--hide-scrollbars",
        "--enable-logging=stderr",
    ]);
    // No home of the user's, and no memory shared through a small /dev/shm.
    command.env("HOME", folder.path(".")).args(["--disable-dev-shm-usage", &profile]).args(options).arg(url);
    command.output().unwrap()
}

/// A folder with a page about measured, pending and failed rows and predictions of the past.
fn reported() -> Folder {
    let folder = folder_with(
        &MIXED.replace("name = \"mixed\"", "name = \"mixed <script>throw 1</script>\""),
        &mixed_history(30),
    );
    for arguments in [
        &["suggest", "p.toml", "-n", "3", "--append"][..],
        &["tell", "p.toml", "31", "1.9"],
        &["fail", "p.toml", "32", "--reason", "<img src=x>"],
    ] {
        assert_eq!(folder.run(arguments).code, 0, "{arguments:?}");
    }
    let run = folder.run(&["report", "p.toml", "-o", "report.html"]);
    assert_eq!((run.code, run.stdout.as_str()), (0, ""), "{run:?}");
    folder
}

#[test]
fn the_page_is_complete_in_itself_and_the_same_each_time() {
    let folder = reported();
    let html = folder.read("report.html");
    for part in [
        "figure-progress",
        "figure-held-out",
        "figure-promises",
        "figure-importance",
        "figure-slice-5",
        "stop-sign",
        "limits",
        "data",
    ] {
        assert!(html.contains(&format!("id=\"{part}\"")), "{part}");
    }
    assert!(html.contains("failed: &lt;img src=x&gt;"), "text of the files is text");
    for foreign in ["<script", "<img", "http://", "https://", "@import", "<link"] {
        let rest = html.replace("http://www.w3.org/2000/svg", "");
        assert!(!rest.contains(foreign), "{foreign}");
    }
    assert_eq!(folder.run(&["report", "p.toml"]).stdout, html, "stdout without -o");
    folder.refused(&["report", "p.toml", "-o", "p.csv"], &["p.csv", "reads this file"]);
    folder.refused(&["report", "p.toml", "-o", "p.predictions.csv"], &["reads this file"]);
    folder.refused(&["report", "p.toml", "--history", "no.csv"], &["no.csv", "no such file"]);
}

#[test]
fn an_empty_history_has_a_page_that_says_what_to_do() {
    let folder = Folder::with_problem(PROBLEM);
    let run = folder.run(&["report", "p.toml"]);
    assert_eq!(run.code, 0, "{run:?}");
    assert!(run.stdout.contains("space-filling point") && run.stdout.contains("no experiment was run yet"));
}

/// What the browser makes of the page: each figure's size, and whether anything is wider than the window. The script stands in a copy, whose policy allows it.
const LOOK: &str = r#"<script>
window.onerror = (message) => { document.title = "error " + message; };
const lines = [...document.querySelectorAll("figure svg, table, .tile")].map((e) => {
  const box = e.getBoundingClientRect();
  return (e.closest("figure")?.id ?? e.tagName) + " " + Math.round(box.width) + " " + Math.round(box.height);
});
const wide = document.documentElement.scrollWidth - document.documentElement.clientWidth;
const out = document.createElement("pre");
out.id = "seen";
out.textContent = "overflow " + wide + "\nscripts " + (document.scripts.length - 1) + "\n" + lines.join("\n");
document.body.append(out);
</script></body>"#;

#[test]
fn a_browser_shows_every_figure_at_400_and_1400_pixels_without_an_error() {
    if chromium().is_none() {
        eprintln!("skipped: chromium is not installed (apt-get install chromium)");
        return;
    }
    let folder = reported();
    let html = folder.read("report.html");
    let policy = "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">";
    assert!(html.contains(policy));
    folder.write("look.html", html.replace(policy, "").replace("</body>", LOOK));
    for width in [400, 1400] {
        // Windows have a least width of their own; a frame has none.
        folder.write("frame.html", format!("<iframe id=f src=look.html style='width:{width}px;height:900px;border:0'></iframe><script>onload=()=>document.body.append(document.getElementById('f').contentDocument.getElementById('seen'))</script>"));
        let shown = browse(
            &folder,
            &[
                "--dump-dom",
                "--allow-file-access-from-files",
                "--window-size=1600,1000",
                "--virtual-time-budget=4000",
            ],
            "frame.html",
        );
        let dom = String::from_utf8_lossy(&shown.stdout).into_owned();
        let seen = dom
            .split("id=\"seen\">")
            .nth(1)
            .unwrap_or_else(|| panic!("{dom}\n{}", String::from_utf8_lossy(&shown.stderr)));
        let seen = seen.split("</pre>").next().unwrap();
        assert!(seen.contains("overflow 0\nscripts 0\n"), "{width}: {seen}");
        let sizes: Vec<(&str, i32, i32)> = seen
            .lines()
            .skip(2)
            .map(|line| {
                let mut words = line.split(' ');
                let mut next = || words.next().unwrap();
                (next(), next().parse().unwrap(), next().parse().unwrap())
            })
            .collect();
        let figures: Vec<_> = sizes.iter().filter(|(id, ..)| id.starts_with("figure-")).collect();
        assert_eq!(figures.len(), 9, "{seen}");
        for (id, wide, high) in figures {
            assert!(*wide >= 280 && *wide <= width && *high >= 120, "{width}: {id} {wide} {high}");
        }
    }
    // The page itself, as it is: nothing to complain about.
    let shown = browse(&folder, &["--dump-dom", "--virtual-time-budget=2000"], "report.html");
    let complaints = String::from_utf8_lossy(&shown.stderr).into_owned();
    assert!(!complaints.contains("CONSOLE"), "{complaints}");
    assert!(String::from_utf8_lossy(&shown.stdout).contains("mixed &lt;script&gt;"));
}

#[test]
fn a_browser_prints_the_page() {
    if chromium().is_none() {
        eprintln!("skipped: chromium is not installed (apt-get install chromium)");
        return;
    }
    let folder = reported();
    let pdf = format!("--print-to-pdf={}", folder.path("report.pdf").display());
    browse(&folder, &[&pdf, "--no-pdf-header-footer"], "report.html");
    let bytes = std::fs::read(folder.path("report.pdf")).unwrap();
    assert!(bytes.starts_with(b"%PDF") && bytes.len() > 20_000, "{} bytes", bytes.len());
}
