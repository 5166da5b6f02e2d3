import { chartStyles } from '../charts/inks.ts';
import { detachedStyles } from '../html/page-shell.ts';

/** Report style sheet, shared with the console: two schemes, widths from 320 pixels, A4, the reader's fonts. */
export const reportStyles = `${detachedStyles}
${chartStyles}
* {
  box-sizing: border-box;
}
body {
  margin: 0 auto;
  max-width: 1180px;
  padding: 24px 16px 64px;
  background: var(--page);
  color: var(--ink);
  font: var(--t-body) / 1.5 var(--sans);
  overflow-wrap: anywhere;
}
.bar {
  margin: 14px 0 8px;
}
.legend {
  display: flex;
  flex-wrap: wrap;
  gap: 4px 20px;
  padding: 0;
  list-style: none;
}
.legend b {
  font-weight: 600;
}
.lead {
  font-size: var(--t-lead);
}
.lead b {
  font-weight: 650;
}
.verdict {
  padding: 9px 12px;
  border-radius: var(--r2);
  background: var(--tone-ground);
  color: var(--tone);
  font-weight: 550;
  max-width: none;
}
dl.figs {
  gap: 0;
  margin: 14px -1.1rem;
  border-block: 1px solid var(--line);
}
.figs dt {
  font-size: var(--t-body);
}
h1 {
  margin: 0 0 4px;
  font-size: var(--t-title);
  font-weight: 650;
  line-height: 1.25;
  letter-spacing: -0.02em;
}
h2 {
  margin: 0 0 10px;
  font-size: var(--t-lead);
  font-weight: 650;
}
h3,
h4 {
  margin: 0 0 5px;
  font-size: var(--t-body);
  font-weight: 650;
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
  border-radius: var(--r3);
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
.chart-figures {
  overflow-x: auto;
}
table {
  border-collapse: collapse;
  font-size: var(--t-body);
  font-variant-numeric: tabular-nums;
  overflow-wrap: normal;
}
caption,
.hidden {
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
  font-size: var(--t-small);
}
dd {
  margin: 0;
}
ul {
  margin: 0 0 0.6rem;
  padding-left: 1.2rem;
}
:focus-visible {
  outline: 2px solid var(--focus);
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
  dl.figs {
    margin-inline: 0;
    grid-template-columns: repeat(3, 1fr);
  }
  .summary {
    break-after: page;
  }
  .bar,
  .dot,
  .verdict {
    print-color-adjust: exact;
    -webkit-print-color-adjust: exact;
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
  .chart-figures {
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
