/** Colours of charts by what they stand for; `chartStyles` gives each its values, so that schemes and print switch them. */
export const inks = {
  text: 'var(--chart-text)',
  axis: 'var(--chart-axis)',
  ground: 'var(--chart-ground)',
  main: 'var(--chart-main)',
  rest: 'var(--chart-rest)',
  limit: 'var(--chart-limit)',
  band: 'var(--chart-band)',
  alarm: 'var(--chart-alarm)',
  completed: 'var(--chart-completed)',
  exhausted: 'var(--chart-exhausted)',
  opted_out: 'var(--chart-opted-out)',
  never: 'var(--chart-never)',
  stopped: 'var(--chart-stopped)',
  unresolved: 'var(--chart-unresolved)',
  open: 'var(--chart-open)',
  ready: 'var(--chart-ready)',
  hour: 'var(--chart-hour)',
  today: 'var(--chart-today)',
  later: 'var(--chart-later)',
} as const;

/** Grounds of heat maps from the least to the most, and the ink that is read on each. */
export const heatInks = [0, 1, 2, 3, 4].map((step) => ({
  ground: `var(--chart-heat-${step})`,
  text: `var(--chart-on-heat-${step})`,
}));

/**
 * The colours as a style sheet. They follow Okabe and Ito, darker where white paper asks for it: what may stand side by side is told apart
 * with protanopia, deuteranopia and tritanopia. Drawings are never narrower than 26rem: they scroll, so that their words stay readable.
 */
export const chartStyles = `:root {
  --chart-text: light-dark(#39424d, #c3cbd4);
  --chart-axis: light-dark(#98a2ad, #5d6873);
  --chart-ground: light-dark(#ffffff, #181c21);
  --chart-main: light-dark(#0072b2, #56b4e9);
  --chart-rest: light-dark(#c9d4de, #3b4651);
  --chart-limit: light-dark(#e0560f, #f5cb30);
  --chart-band: light-dark(#e3e6ea, #2d343c);
  --chart-alarm: light-dark(#7a0a05, #f0524a);
  --chart-completed: light-dark(#00452f, #27d690);
  --chart-exhausted: light-dark(#bc8a07, #ffaf00);
  --chart-opted-out: light-dark(#83399a, #a04fb0);
  --chart-never: light-dark(#92878c, #6d7a74);
  --chart-stopped: light-dark(#260034, #dcfffc);
  --chart-unresolved: light-dark(#b64d3a, #ea6741);
  --chart-open: light-dark(#3035c1, #337cfc);
  --chart-ready: light-dark(#2d97e9, #d1aff3);
  --chart-hour: light-dark(#7090d0, #9078b0);
  --chart-today: light-dark(#a8c0e0, #504870);
  --chart-later: light-dark(#d5dde5, #2c343d);
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
