/** Chart colours by meaning; `chartStyles` sets values per scheme and for print. */
export const inks = {
  text: 'var(--chart-text)',
  axis: 'var(--chart-axis)',
  main: 'var(--chart-main)',
  rest: 'var(--chart-rest)',
  limit: 'var(--chart-limit)',
  band: 'var(--chart-band)',
  alarm: 'var(--chart-alarm)',
} as const;

/** Heat map backgrounds, lowest first, each with a legible text colour. */
export const heatInks = [0, 1, 2, 3, 4].map((step) => ({
  ground: `var(--chart-heat-${step})`,
  text: `var(--chart-on-heat-${step})`,
}));

/**
 * Based on Okabe and Ito, darkened for white paper; adjacent colours stay distinct with protanopia, deuteranopia and tritanopia. Drawings
 * scroll below 26rem, so their text stays readable.
 */
export const chartStyles = `:root {
  --chart-text: light-dark(#39424d, #c3cbd4);
  --chart-axis: light-dark(#98a2ad, #5d6873);
  --chart-main: light-dark(#0072b2, #56b4e9);
  --chart-rest: light-dark(#c9d4de, #3b4651);
  --chart-limit: light-dark(#e0560f, #f5cb30);
  --chart-band: light-dark(#e3e6ea, #2d343c);
  --chart-alarm: light-dark(#7a0a05, #f0524a);
  --chart-heat-0: light-dark(#eaf2f9, #1d2a36);
  --chart-heat-1: light-dark(#bfdbee, #1f4662);
  --chart-heat-2: light-dark(#7fb8dd, #266c97);
  --chart-heat-3: light-dark(#2577b0, #62b5e5);
  --chart-heat-4: light-dark(#0a3f6b, #c4e6fa);
  --chart-on-heat-0: light-dark(#1b2026, #eef2f5);
  --chart-on-heat-1: light-dark(#1b2026, #eef2f5);
  --chart-on-heat-2: light-dark(#1b2026, #ffffff);
  --chart-on-heat-3: light-dark(#ffffff, #0c1319);
  --chart-on-heat-4: light-dark(#ffffff, #0c1319);
}
.chart {
  margin: 0;
  min-width: 0;
}
.chart-drawing {
  overflow-x: auto;
}
.chart-drawing svg {
  display: block;
  max-width: max(100%, 26rem);
  height: auto;
}
.chart-note {
  color: var(--chart-text);
}
.chart-swatch {
  width: 0.75em;
  height: 0.75em;
  margin-right: 0.45em;
}
`;
