import { chartStyles } from '../charts/inks.ts';

/** The style sheet of a report: two schemes, any width from 320 pixels, and A4. Fonts are the reader's own. */
export const reportStyles = `${chartStyles}
:root {
  color-scheme: light dark;
  --ground: light-dark(#f4f5f6, #101317);
  --panel: light-dark(#ffffff, #181c21);
  --line: light-dark(#d8dce1, #2c333b);
  --ink: light-dark(#171b20, #e8ebee);
  --accent: light-dark(#0b5f67, #6cc9cf);
}
* {
  box-sizing: border-box;
}
body {
  margin: 0 auto;
  max-width: 78rem;
  padding: 1.5rem 1rem 4rem;
  background: var(--ground);
  color: var(--ink);
  font: 14px/1.5 system-ui, sans-serif;
  overflow-wrap: anywhere;
}
h1 {
  margin: 0 0 0.25rem;
  font-size: 1.7rem;
  line-height: 1.25;
}
h2 {
  margin: 0 0 0.6rem;
  font-size: 1.2rem;
}
h3,
h4 {
  margin: 0 0 0.3rem;
  font-size: 1rem;
}
p {
  margin: 0 0 0.6rem;
  max-width: 72ch;
}
header {
  margin-bottom: 1.2rem;
}
section {
  margin-top: 1.1rem;
  padding: 1rem 1.1rem;
  background: var(--panel);
  border: 1px solid var(--line);
  border-radius: 10px;
}
.side {
  display: grid;
  grid-template-columns: repeat(auto-fit, minmax(min(26rem, 100%), 1fr));
  gap: 1.6rem;
}
.side.wide {
  grid-template-columns: minmax(0, 1fr);
}
.of {
  display: grid;
  align-content: start;
  gap: 1.2rem;
  min-width: 0;
}
.chart {
  display: grid;
  grid-template-columns: minmax(0, 1fr);
  gap: 0.6rem;
}
.side:not(.wide) .of {
  container-type: inline-size;
}
@container (min-width: 62rem) {
  .chart {
    grid-template-columns: auto minmax(0, 1fr);
    column-gap: 2rem;
  }
  .chart > figcaption {
    grid-column: 1 / -1;
  }
}
.chart-figures,
.figures {
  overflow-x: auto;
}
table {
  border-collapse: collapse;
  font-size: 13px;
  font-variant-numeric: tabular-nums;
  overflow-wrap: normal;
}
caption {
  position: absolute;
  width: 1px;
  height: 1px;
  overflow: hidden;
  clip-path: inset(50%);
}
th,
td {
  padding: 0.2rem 0.7rem 0.2rem 0;
  border-bottom: 1px solid var(--line);
  text-align: right;
  vertical-align: top;
}
th:first-child,
.words td {
  text-align: left;
}
thead th {
  color: var(--chart-text);
  font-weight: 500;
  vertical-align: bottom;
}
td,
time {
  white-space: nowrap;
}
.words td {
  max-width: 26rem;
  white-space: normal;
}
tbody th {
  min-width: 6.5rem;
  max-width: 26rem;
  font-weight: 500;
  overflow-wrap: anywhere;
}
dl {
  display: grid;
  grid-template-columns: repeat(auto-fill, minmax(min(14rem, 100%), 1fr));
  gap: 0.7rem 1.4rem;
  margin: 0;
}
dt {
  color: var(--chart-text);
  font-size: 12.5px;
}
dd {
  margin: 0;
}
ul {
  margin: 0 0 0.6rem;
  padding-left: 1.2rem;
}
:focus-visible {
  outline: 3px solid var(--accent);
  outline-offset: 2px;
}
@page {
  size: A4;
  margin: 14mm;
}
@media print {
  :root {
    color-scheme: light;
  }
  body {
    max-width: none;
    padding: 0;
    background: #fff;
    font-size: 9.5pt;
  }
  section {
    padding: 0;
    border: 0;
    border-radius: 0;
  }
  h2,
  h3,
  h4,
  figcaption {
    break-after: avoid;
  }
  .chart-drawing,
  .chart > figcaption,
  tr,
  dl div {
    break-inside: avoid;
  }
  .chart-drawing,
  .chart-figures,
  .figures {
    overflow: visible;
  }
  .chart-drawing svg {
    max-width: 100%;
  }
  table {
    font-size: 7.5pt;
  }
  th,
  td {
    padding-right: 0.35rem;
    white-space: normal;
  }
  tbody th {
    min-width: 0;
  }
  .side {
    grid-template-columns: repeat(auto-fit, minmax(min(20rem, 100%), 1fr));
  }
}
`;
