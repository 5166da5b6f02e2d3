import { durationText as duration } from './browser/time-words.js';
import { html, type Html, type HtmlValue } from './html.ts';
import { icon, type IconName } from './icons.ts';

export { duration };

export type Tone = 'live' | 'wait' | 'good' | 'bad' | 'quiet';

const toneIcons: Readonly<Record<Tone, IconName>> = { live: 'phone', wait: 'clock', good: 'check', bad: 'alert', quiet: 'dots' };

/** The text carries the whole meaning; colour and icon add none. */
export function badge(tone: Tone, text: HtmlValue, drawing: IconName = toneIcons[tone]): Html {
  return html`<span class="state is-${tone}">${icon(drawing, tone === 'live' ? 'pulse' : '')} ${text}</span>`;
}

/** Outcomes in the order of every legend, bar and filter. */
export type OutcomeTone = 'reached' | 'unreached' | 'optout' | 'decide' | 'stopped' | 'calling' | 'waiting' | 'cannot';

export function outcome(tone: OutcomeTone, text: HtmlValue): Html {
  return html`<span class="outcome"><i class="dot ${tone}"></i>${text}</span>`;
}

/** One stacked bar with a minimum width per part. `says`: text alternative; without it the bar is hidden from screen readers. */
export function bar(
  parts: readonly (readonly [tone: OutcomeTone, size: number])[],
  { says: description, big = false }: { says?: string; big?: boolean } = {},
): Html {
  const met = parts.filter(([, size]) => size > 0);
  const whole = met.reduce((sum, [, size]) => sum + size, 0);
  const gap = 2;
  const availableWidth = 1000 - gap * Math.max(0, met.length - 1);
  const wide = met.map(([, size]) => Math.max(4, (size / Math.max(1, whole)) * availableWidth));
  const shrink = availableWidth / Math.max(availableWidth, wide.reduce((sum, width) => sum + width, 0)); // prettier-ignore
  let x = 0;
  const drawn = met.map(([tone], index) => {
    const width = (wide[index] ?? 0) * shrink;
    const at = x;
    x += width + gap;
    return html`<rect
      class="${tone}"
      x="${at.toFixed(1)}"
      width="${width.toFixed(1)}"
      height="10"
      ${tone === 'cannot' ? html`fill="url(#hatch)"` : null}
    ></rect>`;
  });
  return html`<svg
    class="bar${big ? ' big' : ''}"
    viewBox="0 0 1000 10"
    preserveAspectRatio="none"
    ${description === undefined ? html`aria-hidden="true"` : html`role="img" aria-label="${description}"`}
  >
    ${drawn}
  </svg>`;
}

/** Asks the operator to act: what is wrong, what follows, how to fix it; `action`: one button. */
export function note(tone: Tone, { title, body, action = null, drawing }: Note): Html {
  return html`<div class="note is-${tone}" role="note">
    ${icon(drawing ?? toneIcons[tone])}
    <h2>${title}</h2>
    ${body} ${action === null ? null : html`<div class="actions">${action}</div>`}
  </div>`;
}

interface Note {
  title: HtmlValue;
  body?: HtmlValue;
  action?: HtmlValue;
  drawing?: IconName;
}

/** A link styled as a button. At most one per page is `primary`. */
export function linkButton(
  path: string,
  text: HtmlValue,
  variant: '' | 'primary' | 'danger' | 'bare' | 'sm' = '',
  drawing?: IconName,
): Html {
  return html`<a class="btn ${variant}" href="${path}">${drawing === undefined ? null : icon(drawing)} ${text}</a>`;
}

/** Secondary actions as links or buttons, irreversible ones last. */
export function menu(label: string, entries: HtmlValue, drawing: IconName = 'dots'): Html {
  return html`<details class="menu">
    <summary class="btn square" aria-label="${label}">${icon(drawing)}</summary>
    <div class="pop">${entries}</div>
  </details>`;
}

export function menuLink(path: string, text: string, { drawing, small, danger = false }: MenuEntry): Html {
  return html`<a href="${path}" class="${danger ? 'danger' : ''}">
    ${icon(drawing)} <span>${text}</span>${small === undefined ? null : html`<small>${small}</small>`}
  </a>`;
}

interface MenuEntry {
  drawing: IconName;
  small?: string;
  danger?: boolean;
}

/** Key figures: name, value, of what. An unknown value is a dash, and `of` explains it. */
export function figures(entries: readonly { name: string; value: HtmlValue; of?: HtmlValue; plot?: boolean }[]): Html {
  return html`<dl class="figs">
    ${entries.map(
      ({ name, value, of = null, plot = false }) =>
        html`<div>
          <dt>${name}</dt>
          <dd class="${plot ? 'with-plot' : ''}">${value}</dd>
          <dd class="of">${of}</dd>
        </div>`,
    )}
  </dl>`;
}

/**
 * `minute`: `today 17:40`, `Wed 25 Nov, 11:05`; `about`: `today about 17:40`; `brief`: shortest form, for recent events; `clock`: time of
 * day only.
 */
export type Show = 'time' | 'full' | 'minute' | 'about' | 'brief' | 'clock';

/** An instant of service time: UTC, until the page's script writes it in the viewer's zone. */
export function instant(epochMs: number | null, show: Show = 'time'): Html {
  if (epochMs === null || !Number.isFinite(epochMs)) return muted('–');
  const iso = new Date(epochMs).toISOString();
  const time = iso.slice(11, show === 'time' || show === 'full' ? 19 : 16);
  const text = show === 'time' || show === 'clock' ? time : `${iso.slice(0, 10)} ${time}`;
  return html`<time datetime="${iso}" data-show="${show}">${text} UTC</time>`;
}

/** Text whose instants, as `instantText` writes them, are shown in the viewer's zone. */
export function withInstants(text: string): HtmlValue {
  const parts = text.split(/(\d{4}-\d\d-\d\d \d\d:\d\d) UTC/);
  return parts.map((part, index) => (index % 2 === 0 ? part : instant(Date.parse(`${part}Z`), 'minute')));
}

/** Placeholder of the final size while content loads. */
export function bone(text: string): Html {
  return html`<span class="bone"><span class="hidden">${text}</span></span>`;
}

/** Elapsed time at `now`; the script counts on. */
export function since(epochMs: number, now: number): Html {
  return html`<span class="num" data-since="${epochMs}">${duration(now - epochMs)}</span>`;
}

export function figure(value: number | string): Html {
  return html`<span class="num">${typeof value === 'number' ? value.toLocaleString('en') : value}</span>`;
}

export function muted(text: string): Html {
  return html`<span class="soft">${text}</span>`;
}

export function aside(text: HtmlValue): Html {
  return html`<p class="soft small">${text}</p>`;
}

export function count(value: number, one: string, many = `${one}s`): string {
  return `${value.toLocaleString('en')} ${value === 1 ? one : many}`;
}

export function link(path: string, text: HtmlValue): Html {
  return html`<a href="${path}">${text}</a>`;
}

/** An identifier: never wraps, and is cut only beyond the sandbox's longest id. */
export function id(text: string): Html {
  return html`<code class="id" title="${text}">${text}</code>`;
}

export function phone(number: string): Html {
  return html`<span class="phone num">${number}</span>`;
}

const longestWhole = 36;

/** A URL path that wraps between its parts only, unless a part is longer than any id. */
export function address(path: string): HtmlValue {
  const parts = path.split(/(?=[/?&=])/);
  return parts.map((part) => [html`<wbr />`, part.length > longestWhole ? part : html`<span class="word">${part}</span>`]);
}

export interface Row {
  /** Stable and unique on the page. */
  key: string;
  /** By column name, the same for all rows; the first identifies the row, an unnamed one has buttons. */
  cells: Readonly<Record<string, HtmlValue>>;
}

export function two(first: HtmlValue, second: HtmlValue): Html {
  return html`<span class="two"><span>${first}</span>${second === null ? null : html`<small>${second}</small>`}</span>`;
}

/** Becomes cards on narrow pages; `whenEmpty` replaces it without rows. `tall`: two-line cells. */
export function table(caption: string, rows: readonly Row[], whenEmpty: HtmlValue = null, tall = false): HtmlValue {
  const [first] = rows;
  if (first === undefined) return whenEmpty;
  const heads = Object.keys(first.cells).map((column) =>
    column === '' ? html`<th scope="col"><span class="hidden">Actions</span></th>` : column,
  );
  const lines = rows.map(
    ({ key, cells }) =>
      html`<tr id="${key}">
        ${Object.entries(cells).map(([column, cell], index) =>
          index === 0
            ? html`<th scope="row">${cell}</th>`
            : html`<td ${column === '' ? html`class="r"` : html`data-label="${column}"`}>${cell}</td>`,
        )}
      </tr>`,
  );
  return scrolled(caption, { kind: tall ? 'cards tall' : 'cards', heads, lines });
}

interface Scrolled {
  /** CSS classes; `cards`: becomes cards on narrow pages. */
  kind?: string;
  /** Id of the heading that labels it; default: the caption. */
  by?: string;
  heads: readonly (string | Html)[];
  lines: HtmlValue;
}

export function scrolled(caption: HtmlValue, { kind = 'cards', by, heads, lines }: Scrolled): Html {
  return html`<div
    class="scroll"
    role="group"
    ${by === undefined ? html`aria-label="${caption}"` : html`aria-labelledby="${by}"`}
    tabindex="0"
  >
    <table class="${kind}">
      <caption class="hidden">
        ${caption}
      </caption>
      <thead>
        <tr>
          ${heads.map((head) => (typeof head === 'string' ? html`<th scope="col">${head}</th>` : head))}
        </tr>
      </thead>
      <tbody>
        ${lines}
      </tbody>
    </table>
  </div>`;
}

export function facts(entries: readonly (readonly [string, HtmlValue])[], kind: '' | 'small' = ''): Html {
  const known = entries.filter(([, value]) => value !== null && value !== undefined && value !== '');
  return html`<dl class="facts ${kind}">
    ${known.map(
      ([name, value]) =>
        html`<dt>${name}</dt>
          <dd>${value}</dd>`,
    )}
  </dl>`;
}

export function empty(title: string, next: HtmlValue): Html {
  return html`<div class="empty">
    <p class="empty-title">${title}</p>
    <p>${next}</p>
  </div>`;
}

/** `id`: of the heading, which then labels the section. */
export function panel(title: string | Html, body: HtmlValue, aside: HtmlValue = null, id?: string): Html {
  const head = id === undefined ? html`<h2>${title}</h2>` : html`<h2 id="${id}">${title}</h2>`;
  return html`<section class="panel" ${id === undefined ? null : html`aria-labelledby="${id}"`}>
    <header>${head} ${aside}</header>
    ${body}
  </section>`;
}

export function code(text: string, label: string): Html {
  return html`<pre tabindex="0" role="region" aria-label="${label}"><code>${text}</code></pre>`;
}
