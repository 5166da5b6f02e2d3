/** What stands in the main part: panels, tables that turn into cards, facts, transcripts. */
export const panelsStyle = `
.panel { min-width: 0; background: var(--panel); border: 1px solid var(--line); border-radius: 10px; }
.panel > header { display: flex; flex-wrap: wrap; align-items: center; justify-content: space-between; gap: 4px 16px; min-height: 46px; padding: 9px 16px; border-bottom: 1px solid var(--line); }
.panel > :not(header, table) { margin: 14px 16px; }
.panel > .pages:not(:has(a)) { display: none; }
.aside { color: var(--soft); font-variant-numeric: tabular-nums; }
.more { color: var(--soft); }
.pages { display: flex; gap: 18px; }

table { width: 100%; border-collapse: collapse; }
th, td { padding: 5px 10px; text-align: left; vertical-align: middle; overflow-wrap: anywhere; }
th:first-child, td:first-child { padding-left: 16px; }
th:last-child, td:last-child { padding-right: 16px; }
thead th { padding-top: 9px; padding-bottom: 6px; color: var(--soft); font-size: 12.5px; font-weight: 500; white-space: nowrap; }
tbody th { font-weight: 500; }
tbody tr { height: 41px; border-top: 1px solid var(--line); }
tbody tr:hover { background: var(--sunk); }
td:last-child:has(form) { text-align: right; }

.badge { display: inline-flex; align-items: center; gap: 6px; padding: 1px 9px 1px 8px; border-radius: 999px; font-size: 12.5px; line-height: 1.6; font-weight: 550; white-space: nowrap; background: var(--quiet-ground); color: var(--soft); }
.badge::before { content: ""; width: 7px; height: 7px; border-radius: 50%; background: currentColor; }
.badge.live { background: var(--live-ground); color: var(--live); }
.badge.good { background: var(--good-ground); color: var(--good); }
.badge.wait { background: var(--wait-ground); color: var(--wait); }
.badge.bad { background: var(--bad-ground); color: var(--bad); }

.progress { display: grid; gap: 3px; min-width: 180px; }
.progress svg { display: block; width: 100%; height: 8px; border-radius: 4px; background: var(--bar-quiet); }
.progress span { color: var(--soft); font-size: 12.5px; font-variant-numeric: tabular-nums; }
rect.live { fill: var(--bar-live); }
rect.good { fill: var(--bar-good); }
rect.wait { fill: var(--bar-wait); }
rect.bad { fill: var(--bar-bad); }
rect.quiet { fill: var(--bar-quiet); }

.facts { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(260px, 100%), 1fr)); gap: 12px 24px; }
.facts dt { color: var(--soft); font-size: 12.5px; }
.facts dd { overflow-wrap: anywhere; }
.empty { padding: 10px 0; max-width: 68ch; color: var(--soft); }
main > .empty { padding: 18px 16px; border: 1px dashed var(--edge); border-radius: 10px; max-width: none; }
.empty-title { color: var(--ink); font-weight: 600; }
.quote { white-space: pre-wrap; overflow-wrap: anywhere; max-width: 80ch; }
pre { max-height: 460px; overflow: auto; padding: 12px 14px; border-radius: 7px; background: var(--sunk); border: 1px solid var(--line); white-space: pre-wrap; overflow-wrap: anywhere; }
.attempts { display: grid; gap: 2px; }
details summary { cursor: pointer; color: var(--accent); border-radius: 4px; }
details[open] summary { margin-bottom: 10px; }
.method { font-weight: 650; color: var(--soft); }
.word { white-space: nowrap; }
.request-line { overflow-wrap: anywhere; font: 12.5px/1.5 ui-monospace, "SF Mono", "Cascadia Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; }
a.request-line { font-weight: 450; }
audio { display: block; width: calc(100% - 32px); max-width: 620px; height: 44px; }

.transcript { display: grid; gap: 10px; max-width: 780px; }
.transcript li { display: grid; gap: 2px; justify-self: start; max-width: min(84%, 66ch); padding: 8px 14px; border-radius: 4px 14px 14px 14px; background: var(--sunk); border: 1px solid var(--line); }
.transcript li.user { justify-self: end; border-radius: 14px 4px 14px 14px; background: var(--live-ground); border-color: transparent; }
.transcript .speaker { display: flex; gap: 8px; color: var(--soft); font-size: 12.5px; }
.transcript .said { font-size: 15px; overflow-wrap: anywhere; white-space: pre-wrap; }
.transcript li.user .speaker { color: var(--live); }
.transcript .tool { color: var(--soft); font-size: 12.5px; }
.findings { display: grid; gap: 12px; overflow-wrap: anywhere; }

@media (max-width: 1100px) {
  .panel > header { padding: 9px 14px; }
  .panel > :not(header, table) { margin: 12px 14px; }
  table, tbody, tr, th, td { display: block; }
  thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  tbody tr { display: grid; grid-template-columns: repeat(3, minmax(0, 1fr)); align-items: start; gap: 6px 12px; height: auto; padding: 10px 14px; }
  tbody tr:first-child { border-top: 0; }
  tbody th, tbody td, th:first-child, td:last-child { padding: 0; }
  tbody th, td:has(.progress), td:has(details) { grid-column: 1 / -1; }
  td:has(> .id, > a > .id, > .request-line) { grid-column: 1 / -1; }
  td:has(> .phone, > a > .phone), td:has(> .attempts) { grid-column: span 2; }
  tbody th:has(+ td > .badge) { grid-column: 1 / 3; }
  tbody th + td:has(> .badge) { justify-self: end; }
  tbody th { font-size: 15px; }
  td[data-label]:not([data-label=""], th + td:has(> .badge))::before { content: attr(data-label); display: block; color: var(--soft); font-size: 12px; line-height: 1.4; }
  td:last-child:has(form) { grid-column: 3; justify-self: end; align-self: end; }
  .facts { grid-template-columns: repeat(2, minmax(0, 1fr)); gap: 10px 14px; }
  .facts div:has(code) { grid-column: 1 / -1; }
  td[data-label=""]:empty { display: none; }
  :is(td, dd) :is(time, .num:not(.phone)) { white-space: normal; }
  .transcript li { max-width: 92%; }
}`;
