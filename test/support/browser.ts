import { existsSync } from 'node:fs';
import { chromium, type Browser, type BrowserContext, type Page } from 'playwright-core';

const usualPlaces = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

const quietFlags = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  // Whether a recording plays must not depend on the machine's sound.
  '--disable-audio-output',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  // Other addresses fail by themselves: a route for them would disable the browser's cache.
  '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost',
];

/** Null when the tests of the page can run. */
export function browserMissing(): string | null {
  if (findChromium() !== null) return null;
  return 'No Chromium is here: install Debian\'s "chromium" package, or say in CARILLON_CHROMIUM where one is.';
}

/** With CARILLON_REQUIRE_BROWSER=1 a missing browser is a failure, not a reason to skip. */
export const mustHaveBrowser = process.env['CARILLON_REQUIRE_BROWSER'] === '1';

function findChromium(): string | null {
  const asked = process.env['CARILLON_CHROMIUM'];
  if (asked !== undefined && asked !== '') return existsSync(asked) ? asked : null;
  return usualPlaces.find((place) => existsSync(place)) ?? null;
}

export interface WindowOptions {
  /** The only origin that may get requests. */
  origin: string;
  width?: number;
  height?: number;
  colorScheme?: 'light' | 'dark';
  reducedMotion?: 'reduce' | 'no-preference';
  timezoneId?: string;
}

export interface TestWindow {
  page: Page;
  /** Foreign addresses that the page requested; none is ever reached. */
  strayed: string[];
  complaints: string[];
  close(): Promise<void>;
}

/** Each window has a profile of its own. */
let browser: Promise<Browser> | undefined;
let openWindows = 0;

async function theBrowser(): Promise<Browser> {
  const executablePath = findChromium();
  if (executablePath === null) throw new Error(browserMissing() ?? '');
  browser ??= chromium.launch({ executablePath, args: quietFlags });
  // A failed or crashed browser is replaced for the next window.
  void browser.then(
    (started) => started.once('disconnected', () => (browser = undefined)),
    () => (browser = undefined),
  );
  return browser;
}

export async function openWindow(options: WindowOptions): Promise<TestWindow> {
  const context = await (
    await theBrowser()
  ).newContext({
    viewport: { width: options.width ?? 1280, height: options.height ?? 900 },
    colorScheme: options.colorScheme ?? 'light',
    reducedMotion: options.reducedMotion ?? 'reduce',
    timezoneId: options.timezoneId ?? 'Europe/Berlin',
    locale: 'en-GB',
  });
  openWindows += 1;
  const strayed: string[] = [];
  context.on('request', (request) => {
    if (new URL(request.url()).origin !== options.origin) strayed.push(request.url());
  });
  const page = await context.newPage();
  page.setDefaultTimeout(240_000);
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(message.text());
  });
  return { page, strayed, complaints, close: () => closeWindow(context) };
}

async function closeWindow(context: BrowserContext): Promise<void> {
  await context.close();
  openWindows -= 1;
  // Tests leave it to the next one; it ends with their process.
  if (openWindows === 0 && process.env['VITEST'] === undefined) await (await browser)?.close();
}
