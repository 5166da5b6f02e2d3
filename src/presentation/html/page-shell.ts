import { html, type Html, type HtmlValue } from './html.ts';
import { createTimeWords, type TimeWords } from './browser/time-words.js';
import { drawn, icon } from './icons.ts';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

export interface Shell {
  title: string;
  app: HtmlValue;
  notice?: string | null;
  /** Whether the page needs an access token, and whether one was given. */
  token: 'given' | 'wanted' | null;
  /** The viewer's choice; null: as the system. */
  theme?: 'light' | 'dark' | null;
  isBare?: boolean;
  after?: HtmlValue;
}

export function renderShell({ title, app, notice = null, token, theme = null, isBare = false, after = null }: Shell): Html {
  return html`<!doctype html>
    <html lang="en" ${token === null ? null : html`data-token="${token}"`} ${theme === null ? null : html`data-theme="${theme}"`}>
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>${title}</title>
        <link rel="icon" href="${assetFolder}/icon.svg" type="image/svg+xml" />
        <link rel="preload" href="${assetFolder}/desk-sans.woff2" as="font" type="font/woff2" crossorigin />
        <link rel="stylesheet" href="${assetFolder}/page.css" />
        <script src="${assetFolder}/idiomorph.js" defer></script>
        <script type="module" src="${assetFolder}/page.js"></script>
      </head>
      <body>
        <a class="skip" href="#main">Skip to the content</a>
        <div id="app" class="${isBare ? 'signin' : 'app'}">${app}</div>
        <section class="toast" aria-label="Notice">
          <p id="notice" role="status" aria-live="polite">${notice}</p>
          <button type="button" class="btn bare sm square" aria-label="Close">${icon('x')}</button>
        </section>
        ${after} ${drawn}
      </body>
    </html>`;
}

/** Writes instants as the viewer's script would. `viewerLocale`: zone and language, possibly invalid. */
export function withViewerTimes(markup: string, viewerLocale: string, now: number): string {
  const words = timeWordsIn(viewerLocale);
  if (words === null) return markup;
  return markup
    .replaceAll(/(<time datetime="([^"]+)" data-show="(\w+)">)[^<]*/g, (_, tag: string, at: string, show: string) => {
      return tag + html`${words.write(show, Date.parse(at), now)}`.text;
    })
    .replaceAll(/(<span (?:id="clock-zone"|class="viewer-zone")>)UTC/g, (_, tag: string) => tag + html`${words.zoneName}`.text);
}

/** Null: Intl does not accept it. */
function timeWordsIn(viewerLocale: string): TimeWords | null {
  const [zone = '', locale] = viewerLocale.split(' ');
  try {
    return zone === '' ? null : createTimeWords(zone, locale);
  } catch {
    return null;
  }
}

/** URL path of the pages' scripts, styles and icon. */
export const assetFolder = '/_page';

export interface PageAsset {
  name: string;
  type: string;
  body: string | Buffer;
}

const sharedStyles = ['tokens', 'frame', 'parts', 'tables', 'people', 'making', 'kit', 'room'];
/** Tokens and parts for a self-contained document, without the font. */
export const detachedStyles = ['tokens', 'parts']
  .map((name) => readFileSync(new URL(`browser/styles/${name}.css`, import.meta.url), 'utf8'))
  .join('\n')
  .replaceAll(/@font-face \{[^}]*\}|\/\*[^]*?\*\//g, '');

const sharedScripts = ['dom.js', 'follow.js', 'show.js', 'time-words.js', 'times.js'];

const read = (name: string, folder: string): string => readFileSync(new URL(name, folder), 'utf8');

/** Shared files plus those in `folder`; style sheets are joined as `page.css`, with `styles` last. */
export function readPageAssets(folder: string, { scripts, styles = '' }: { scripts: readonly string[]; styles?: string }): PageAsset[] {
  const shared = new URL('browser/', import.meta.url).href;
  const morph = createRequire(import.meta.url).resolve('idiomorph/dist/idiomorph.min.js');
  const script = (name: string, from: string): PageAsset => ({ name, type: 'text/javascript', body: read(name, from) });
  return [
    {
      name: 'page.css',
      type: 'text/css',
      body: [...sharedStyles.map((name) => read(`styles/${name}.css`, shared)), styles].join('\n'),
    },
    { name: 'icon.svg', type: 'image/svg+xml', body: read('icon.svg', shared) },
    { name: 'desk-sans.woff2', type: 'font/woff2', body: readFileSync(new URL('desk-sans.woff2', shared)) },
    { name: 'idiomorph.js', type: 'text/javascript', body: readFileSync(morph, 'utf8') },
    ...sharedScripts.map((name) => script(name, shared)),
    ...scripts.map((name) => script(name, folder)),
  ];
}

/** Headers of every page response. The policy forbids foreign sources, inline code and framing. */
export const pageHeaders = {
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    "font-src 'self'",
    "media-src 'self'",
    "connect-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
} as const;
