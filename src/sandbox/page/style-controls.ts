/** What can be pressed, switched and filled in. */
export const controlsStyle = `
button, input, select, textarea { font: inherit; color: inherit; }
button { min-height: 34px; padding: 5px 14px; border: 1px solid var(--edge); border-radius: 7px; background: var(--panel); color: var(--ink); font-weight: 550; cursor: pointer; white-space: nowrap; }
button:hover { background: var(--sunk); border-color: var(--ink); }
button.small { min-height: 28px; padding: 2px 10px; font-size: 13px; }
button.danger { color: var(--bad); border-color: var(--bad); }
input, select, textarea { min-height: 34px; padding: 5px 9px; border: 1px solid var(--edge); border-radius: 7px; background: var(--panel); color: var(--ink); }
input, select { max-width: 100%; }
textarea { width: 100%; font: 12.5px/1.5 ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; resize: vertical; }
label { color: var(--soft); font-size: 13px; }
label > input, label > select { color: var(--ink); font-size: 14px; }
form.inline { display: inline-block; }
.actions, .filter { display: flex; flex-wrap: wrap; align-items: end; gap: 8px 12px; }
.actions label, .filter label { display: inline-flex; flex-wrap: wrap; align-items: center; gap: 4px 8px; }
.actions + .actions, .stack { margin-top: 12px; }
.stack { display: grid; gap: 8px; }
#clock .actions { gap: 6px; }
form.inline:has(label) { display: inline-flex; flex-wrap: wrap; align-items: center; gap: 8px; }

.chips { display: flex; flex-wrap: wrap; gap: 6px; }
.chips a { min-height: 30px; padding: 3px 12px; border: 1px solid var(--line); border-radius: 999px; color: var(--ink); text-decoration: none; }
.chips a:hover { border-color: var(--edge); }
.chips a[aria-current] { background: var(--accent); border-color: var(--accent); color: var(--on-accent); }

.switches { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(340px, 100%), 1fr)); gap: 4px 28px; }
.switches li { display: grid; grid-template-columns: auto minmax(0, 1fr) auto; gap: 2px 12px; align-items: start; padding: 8px 0; }
.switches .hits { color: var(--soft); font-size: 12.5px; line-height: 21px; }
.switch-title { font-weight: 600; }
.switches .muted { font-size: 13px; line-height: 1.4; }
button.switch { position: relative; width: 40px; min-height: 24px; height: 24px; padding: 0; border: 2px solid var(--edge); border-radius: 999px; background: var(--panel); }
button.switch::before { content: ""; position: absolute; top: 3px; left: 3px; width: 14px; height: 14px; border-radius: 50%; background: var(--edge); }
button.switch[aria-checked="true"] { background: var(--accent); border-color: var(--accent); }
button.switch[aria-checked="true"]::before { translate: 16px 0; background: var(--on-accent); }

@media (max-width: 960px) {
  button.small { min-height: 34px; }
  #clock .actions { width: 100%; }
  #clock .actions form { flex: 1; }
  #clock .actions button { width: 100%; padding: 2px 4px; }
}
@media (forced-colors: active) {
  button.switch[aria-checked="true"]::before, .badge::before { background: Highlight; forced-color-adjust: none; }
}`;
