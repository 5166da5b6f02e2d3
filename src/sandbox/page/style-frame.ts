/** The frame of the page: head line, clock, navigation, main part; beside each other where there is room. */
export const frameStyle = `
*, *::before, *::after { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
body {
  margin: 0;
  min-width: 320px;
  background: var(--ground);
  color: var(--ink);
  font: 14px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif;
}
h1, h2, p, ul, ol, dl, dd, pre { margin: 0; padding: 0; }
ul, ol { list-style: none; }
h1 { font-size: 24px; line-height: 1.25; font-weight: 650; letter-spacing: -0.012em; overflow-wrap: anywhere; }
h2 { font-size: 15px; line-height: 1.4; font-weight: 650; overflow-wrap: anywhere; }
a { color: var(--accent); text-underline-offset: 3px; text-decoration-thickness: 1px; }
code, pre, .method { font: 12.5px/1.5 ui-monospace, "SF Mono", "Cascadia Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; }
code { overflow-wrap: anywhere; }
code.id { display: inline-block; max-width: min(100%, 40ch); overflow: hidden; text-overflow: ellipsis; white-space: nowrap; vertical-align: bottom; }
.num, time, #clock-now { font-variant-numeric: tabular-nums; }
.num, .phone, time { white-space: nowrap; }
.muted { color: var(--soft); }
.hidden { position: absolute; width: 1px; height: 1px; margin: -1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; border-radius: 4px; }
main:focus { outline: none; }
.skip { position: absolute; left: 12px; top: -60px; z-index: 2; padding: 8px 14px; border-radius: 6px; background: var(--accent); color: var(--on-accent); }
.skip:focus { top: 8px; }

#top { display: flex; align-items: center; justify-content: space-between; gap: 16px; padding: 10px 24px; background: var(--panel); border-bottom: 1px solid var(--line); }
#brand a { color: var(--ink); font-size: 16px; font-weight: 650; text-decoration: none; letter-spacing: -0.01em; }
#brand span { color: var(--soft); font-weight: 400; }
#link { display: flex; align-items: center; gap: 7px; color: var(--soft); }
#link::before { content: ""; width: 8px; height: 8px; border-radius: 50%; border: 2px solid var(--edge); }
#link[data-link="on"] { color: var(--live); }
#link[data-link="on"]::before { background: var(--bar-live); border-color: var(--bar-live); }

#notice { position: fixed; right: 16px; bottom: 16px; z-index: 1; max-width: min(440px, calc(100vw - 32px)); padding: 10px 16px; border-radius: 8px; background: var(--ink); color: var(--panel); overflow-wrap: anywhere; box-shadow: 0 4px 18px rgb(0 0 0 / 22%); }
#notice:empty { display: none; }
#notice.error { background: var(--bad-ground); color: var(--bad); border: 1px solid var(--bad); }

#app { display: grid; grid-template-columns: 190px minmax(0, 1fr); max-width: 1440px; margin: 0 auto; }
#app:empty { display: none; }
#clock { grid-column: 1 / -1; display: flex; flex-wrap: wrap; align-items: center; justify-content: space-between; gap: 6px 20px; padding: 8px 24px; border-bottom: 1px solid var(--line); }
#clock p { display: flex; flex-wrap: wrap; align-items: baseline; gap: 0 10px; }
#clock-now { font-weight: 600; }
#views { padding: 18px 0 24px 12px; }
#views ul { display: grid; gap: 2px; position: sticky; top: 14px; }
#views a { display: flex; align-items: center; justify-content: space-between; gap: 6px; min-height: 36px; padding: 6px 12px; border-radius: 7px; color: var(--ink); text-decoration: none; }
#views a:hover { background: var(--quiet-ground); }
#views a[aria-current] { background: var(--accent); color: var(--on-accent); font-weight: 600; }
.count { padding: 0 7px; border-radius: 999px; background: var(--quiet-ground); color: var(--soft); font-size: 12px; line-height: 1.6; font-weight: 500; font-variant-numeric: tabular-nums; }
.count.live { background: var(--live-ground); color: var(--live); }
.count.bad { background: var(--bad-ground); color: var(--bad); }
main { display: grid; align-content: start; gap: 16px; min-width: 0; padding: 20px 24px 72px; }
.crumb { order: -1; margin-bottom: -12px; }

html:not([data-token="given"]) .token-only { display: none; }
#sign-in { display: none; }
[data-token="wanted"] #sign-in { display: grid; gap: 14px; max-width: 440px; margin: 8vh auto 0; padding: 0 16px; }
[data-token="wanted"] .skip, [data-token="wanted"] #link { display: none; }
#sign-in form { display: grid; gap: 8px; justify-items: start; }
#sign-in input { width: 100%; }
#sign-in-said { color: var(--bad); }
#sign-in-said:empty { display: none; }
.noscript { padding: 12px 24px; }

@media (max-width: 960px) {
  #top { padding: 10px 16px; }
  #app { grid-template-columns: minmax(0, 1fr); }
  #clock { padding: 8px 16px; }
  #views { padding: 10px 12px 0; }
  #views ul { position: static; grid-template-columns: repeat(4, minmax(0, 1fr)); gap: 4px; }
  #views a { justify-content: center; padding: 6px 4px; background: var(--panel); border: 1px solid var(--line); font-size: 13px; }
  #views .count { padding: 0 6px; font-size: 11px; }
  #views .count:not(.live, .bad) { display: none; }
  main { padding: 16px 12px 80px; }
  h1 { font-size: 21px; }
  #app h1 { padding: 0 4px; }
  .crumb { padding: 0 4px; }
}
@media (prefers-reduced-motion: no-preference) {
  .badge.live::before { animation: breathe 2.4s ease-in-out infinite; }
  .switch::before { transition: translate 0.12s ease-out; }
  @keyframes breathe { 50% { opacity: 0.35; } }
}`;
