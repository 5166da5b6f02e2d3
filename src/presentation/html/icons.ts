import { Html, html } from './html.ts';

/** 16 by 16 strokes in the text's colour. */
const drawings = {
  alert: '<path d="M8 2.3 1.8 13.2h12.4zM8 6.5v3M8 11.3h.01"/>',
  ban: '<circle cx="8" cy="8" r="5.8"/><path d="m4 4 8 8"/>',
  bell: '<path d="M8 2v1M3.6 11.5c1-1 1.1-2.1 1.1-4.2A3.3 3.3 0 0 1 8 4a3.3 3.3 0 0 1 3.3 3.3c0 2.1.1 3.2 1.1 4.2zM6.7 13.7a1.4 1.4 0 0 0 2.6 0"/>',
  calendar: '<rect x="2.5" y="3" width="11" height="10.5" rx="2"/><path d="M2.5 6.5h11M5.5 1.5v3M10.5 1.5v3"/>',
  chart: '<path d="M3 13.5v-5M8 13.5v-11M13 13.5v-7.5"/>',
  check: '<path d="m3 8.5 3.3 3.3L13 5"/>',
  clock: '<circle cx="8" cy="8" r="5.8"/><path d="M8 4.7V8l2.2 1.5"/>',
  copy: '<rect x="5.5" y="5.5" width="8" height="8" rx="1.5"/><path d="M3 10.5h-.5V3.8c0-.7.6-1.3 1.3-1.3h6.7V3"/>',
  done: '<circle cx="8" cy="8" r="5.8"/><path d="m5.4 8.2 1.8 1.8 3.4-3.6"/>',
  dots: '<path d="M3.5 8h.01M8 8h.01M12.5 8h.01" stroke-width="2.2"/>',
  down: '<path d="m4 6 4 4 4-4"/>',
  download: '<path d="M8 2.5v7.5M4.8 7 8 10.2 11.2 7M2.8 13.2h10.4"/>',
  eye: '<path d="M1.5 8S4 3.7 8 3.7 14.5 8 14.5 8 12 12.3 8 12.3 1.5 8 1.5 8z"/><circle cx="8" cy="8" r="1.9"/>',
  file: '<path d="M4 1.8h5l3.5 3.5v8.9H4zM9 1.8v3.5h3.5"/>',
  filter: '<path d="M2.5 4h11M4.5 8h7M6.5 12h3"/>',
  flask: '<path d="M6 2h4M6.7 2v4.2L3.2 12c-.5.9.1 1.9 1.1 1.9h7.4c1 0 1.6-1 1.1-1.9L9.3 6.2V2M4.8 10h6.4"/>',
  gauge: '<path d="M2.5 11.5a5.8 5.8 0 1 1 11 0M8 9l2.7-3.2"/>',
  globe: '<circle cx="8" cy="8" r="5.8"/><path d="M2.3 8h11.4M8 2.2c-3.3 3.4-3.3 8.2 0 11.6 3.3-3.4 3.3-8.2 0-11.6z"/>',
  hook: '<path d="M6.5 9.5 9.5 6.5M7 4.5l1.2-1.2a3 3 0 0 1 4.3 4.3L11.3 8.8M9 11.5l-1.2 1.2a3 3 0 0 1-4.3-4.3L4.7 7.2"/>',
  info: '<circle cx="8" cy="8" r="5.8"/><path d="M8 7.5V11M8 5.1h.01"/>',
  key: '<circle cx="5.3" cy="10.7" r="2.8"/><path d="m7.3 8.7 6-6M11 5l2 2"/>',
  list: '<path d="M2.5 4h1M2.5 8h1M2.5 12h1M6 4h7.5M6 8h7.5M6 12h7.5"/>',
  menu: '<path d="M2.5 4.5h11M2.5 8h11M2.5 11.5h11"/>',
  moon: '<path d="M13 9.6A5.5 5.5 0 0 1 6.4 3 5.5 5.5 0 1 0 13 9.6z"/>',
  out: '<path d="M6 2.8H3.5v10.4H6M10 5l3 3-3 3M13 8H6.5"/>',
  pause: '<path d="M5.5 3.5v9M10.5 3.5v9" stroke-width="2"/>',
  pencil: '<path d="m3 13 .6-2.7 7.2-7.2 2.1 2.1-7.2 7.2zM9.5 4.4l2.1 2.1"/>',
  people:
    '<circle cx="6" cy="5.5" r="2.3"/><path d="M1.8 13c.4-2.3 2.1-3.6 4.2-3.6s3.8 1.3 4.2 3.6M10.3 3.5a2.2 2.2 0 0 1 0 4M11.7 9.8c1.4.5 2.3 1.6 2.6 3.2"/>',
  person: '<circle cx="8" cy="5.3" r="2.6"/><path d="M3 13.5c.5-2.6 2.5-4 5-4s4.5 1.4 5 4"/>',
  phone:
    '<path d="M5.6 2.5 3.5 3c-.6.2-1 .7-1 1.4.4 5 4.1 8.7 9.1 9.1.7 0 1.2-.4 1.4-1l.5-2.1-3-1.4-1.2 1.3C7.6 9.6 6.4 8.4 5.7 6.7L7 5.5z"/>',
  play: '<path d="M4.5 3v10l8-5z"/>',
  plug: '<path d="M5.5 2v3.5M10.5 2v3.5M3.7 5.5h8.6v2A4.3 4.3 0 0 1 8 11.8a4.3 4.3 0 0 1-4.3-4.3zM8 11.8v2.7"/>',
  plus: '<path d="M8 3v10M3 8h10"/>',
  retry: '<path d="M13 8a5 5 0 1 1-1.5-3.6L13 5.8M13 2.5v3.3H9.7"/>',
  right: '<path d="m6 4 4 4-4 4"/>',
  screen: '<rect x="2" y="3" width="12" height="8" rx="1.5"/><path d="M6 13.5h4"/>',
  search: '<circle cx="7" cy="7" r="4.3"/><path d="m10.3 10.3 3.2 3.2"/>',
  shield: '<path d="M8 1.8 3 3.6v4c0 3 2.1 5.4 5 6.6 2.9-1.2 5-3.6 5-6.6v-4z"/><path d="m5.8 7.9 1.6 1.6 2.9-3"/>',
  sort: '<path d="M5 3v10M2.8 10.8 5 13l2.2-2.2M11 13V3M8.8 5.2 11 3l2.2 2.2"/>',
  stop: '<circle cx="8" cy="8" r="5.8"/><path d="M8 5v3.5M8 10.9h.01"/>',
  sun: '<circle cx="8" cy="8" r="2.7"/><path d="M8 1.5v1.2M8 13.3v1.2M1.5 8h1.2M13.3 8h1.2M3.4 3.4l.9.9M11.7 11.7l.9.9M12.6 3.4l-.9.9M4.3 11.7l-.9.9"/>',
  upload: '<path d="M8 10.5V3M4.8 5.9 8 2.7l3.2 3.2M2.8 13.2h10.4"/>',
  voicemail: '<circle cx="4.7" cy="8" r="2.5"/><circle cx="11.3" cy="8" r="2.5"/><path d="M4.7 10.5h6.6"/>',
  x: '<path d="m4 4 8 8M12 4l-8 8"/>',
} as const;

export type IconName = keyof typeof drawings;

/** Decorative: the word beside it says the same. */
export function icon(name: IconName, more = ''): Html {
  return html`<svg class="icon${more === '' ? '' : ` ${more}`}" aria-hidden="true"><use href="#i-${name}"></use></svg>`;
}

const hatch =
  '<pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse"><rect class="cannot" width="4" height="6"/></pattern>';

/** Hatch pattern for recipients who cannot be called, for a document without icons. */
export const hatched: Html = new Html(`<svg class="hidden" aria-hidden="true"><defs>${hatch}</defs></svg>`);

/** Icon sprite and hatch pattern: once per document, outside the morphed part. */
export const drawn: Html = new Html(
  `<svg class="hidden" aria-hidden="true"><defs>${Object.entries(drawings)
    .map(([name, drawing]) => `<symbol id="i-${name}" viewBox="0 0 16 16">${drawing}</symbol>`)
    .join('')}${hatch}</defs></svg>`,
);
