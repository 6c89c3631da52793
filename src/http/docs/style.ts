/** The style sheet of the API reference: light and dark, for phones, desktops and print. */

export const STYLE = `
:root {
  color-scheme: light dark;
  --page: #fff; --ink: #1f2630; --quiet: #57606c; --line: #e2e6eb; --code: #f5f7f9; --link: #0b5cad;
  --get: #0b5cad; --post: #1a6b3c; --patch: #8a5200; --delete: #b3261e;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #14171b; --ink: #dde2e8; --quiet: #9aa4b0; --line: #2b3138; --code: #1c2026; --link: #82b7f2;
    --get: #82b7f2; --post: #7cc796; --patch: #e0b066; --delete: #f0938b;
  }
}
* { box-sizing: border-box; }
html { scroll-padding-top: 1.5rem; }
body {
  margin: 0; background: var(--page); color: var(--ink);
  font: 16px/1.6 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "Liberation Sans", sans-serif;
  display: grid; grid-template-columns: 19rem minmax(0, 1fr);
}
a { color: var(--link); text-underline-offset: 0.15em; }
a:focus-visible, pre:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; border-radius: 3px; }
.skip { position: absolute; left: -100rem; }
.skip:focus { left: 1rem; top: 1rem; padding: 0.5rem 1rem; background: var(--page); z-index: 1; }
code, pre, .method { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace; }
code { font-size: 0.875em; overflow-wrap: anywhere; }

nav {
  position: sticky; top: 0; height: 100vh; overflow-y: auto; overscroll-behavior: contain;
  padding: 1.5rem 1rem 2rem 1.5rem; border-right: 1px solid var(--line); font-size: 0.875rem; line-height: 1.45;
}
nav ul { list-style: none; margin: 0; padding: 0; }
nav > ul > li { margin: 0.6rem 0; }
nav > ul > li > a { font-weight: 600; color: var(--ink); }
nav ul ul { margin: 0.15rem 0 0.9rem; }
nav a { text-decoration: none; display: block; padding: 0.12rem 0; overflow-wrap: anywhere; }
nav a:hover { text-decoration: underline; }
nav ul ul a { color: var(--quiet); padding-left: 3.6rem; text-indent: -3.6rem; font-size: 0.8125rem; }
nav .method { display: inline-block; width: 3.6rem; text-indent: 0; font-size: 0.6875rem; }
.brand { margin: 0 0 1.2rem; display: flex; gap: 0.5rem; align-items: baseline; }
.brand a { color: var(--ink); font-size: 1.1rem; font-weight: 700; }
.brand span { color: var(--quiet); }

main { padding: 2.5rem 3rem 6rem; max-width: 62rem; outline: none; }
h1 { font-size: 2.1rem; line-height: 1.2; letter-spacing: -0.02em; margin: 0 0 1rem; }
h2 { font-size: 1.5rem; line-height: 1.3; letter-spacing: -0.01em; margin: 0 0 0.5rem; }
h3 { font-size: 1.0625rem; line-height: 1.4; margin: 0 0 0.4rem; overflow-wrap: anywhere; }
h3 code { font-size: 1em; font-weight: 600; }
h4 { font-size: 0.9375rem; margin: 1.8rem 0 0.3rem; }
p { margin: 0 0 0.8rem; max-width: 46rem; }
.lead { font-size: 1.125rem; }
section { margin-top: 3.5rem; padding-top: 2rem; border-top: 1px solid var(--line); }
article { margin-top: 2.5rem; padding-top: 2rem; border-top: 1px dashed var(--line); }
:target { scroll-margin-top: 1rem; }
article:target > h3, section:target > h2, tr:target { background: color-mix(in srgb, var(--link) 14%, transparent); }
.summary { font-size: 1.0625rem; margin-bottom: 0.3rem; }
.access, .hint, .note { color: var(--quiet); }
.hint { font-size: 0.875rem; }
.note { font-size: 0.8125rem; font-weight: 400; white-space: nowrap; }
.method { font-weight: 700; font-size: 0.8125rem; color: var(--get); }
.post { color: var(--post); } .patch { color: var(--patch); } .delete { color: var(--delete); }

pre {
  margin: 0.9rem 0; padding: 0.8rem 1rem; background: var(--code); border: 1px solid var(--line); border-radius: 6px;
  font-size: 0.8125rem; line-height: 1.55; white-space: pre-wrap; overflow-wrap: anywhere; tab-size: 2;
}
pre code { font-size: inherit; }
pre[tabindex] { max-height: 26rem; overflow-y: auto; }
.shell { border-left: 3px solid var(--link); }

table { border-collapse: collapse; width: 100%; margin: 0.9rem 0; font-size: 0.9375rem; line-height: 1.5; }
th, td { text-align: left; vertical-align: top; padding: 0.4rem 1rem 0.4rem 0; overflow-wrap: break-word; border-bottom: 1px solid var(--line); }
thead th { color: var(--quiet); font-size: 0.8125rem; font-weight: 600; }
tbody th { font-weight: 400; width: 30%; }
tbody td:nth-child(2) { width: 28%; color: var(--quiet); }
.errors tbody th { width: 4rem; } .errors tbody td:nth-child(2) { width: auto; color: inherit; }

@media (max-width: 60rem) {
  body { display: block; }
  nav { position: static; height: auto; border-right: 0; border-bottom: 1px solid var(--line); padding: 1rem 1.1rem; }
  nav > ul { display: flex; flex-wrap: wrap; gap: 0.2rem 1.1rem; }
  nav > ul > li { margin: 0; }
  nav > ul > li > a { padding: 0.3rem 0; }
  nav ul ul { display: none; }
  main { padding: 1.5rem 1.1rem 4rem; }
}
@media (max-width: 40rem) {
  [role="table"], [role="table"] tbody, [role="table"] tr, [role="table"] th, [role="table"] td { display: block; width: auto; }
  [role="table"] thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  [role="table"] tr { padding: 0.5rem 0; border-bottom: 1px solid var(--line); }
  [role="table"] th, [role="table"] td, tbody td:nth-child(2) { border: 0; padding: 0; width: auto; }
  h1 { font-size: 1.75rem; }
}
@media (min-width: 2200px) { html { font-size: 125%; } }
@media (min-width: 3200px) { html { font-size: 175%; } }
@media print {
  body { display: block; font-size: 10pt; }
  nav, .skip { display: none; }
  main { max-width: none; padding: 0; }
  pre[tabindex] { max-height: none; }
  pre, tr { break-inside: avoid; }
  h2, h3, h4 { break-after: avoid; }
  a { color: inherit; }
}
`
