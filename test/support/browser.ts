import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium, type BrowserContext, type Page } from 'playwright-core';

const usualPlaces = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

const quietFlags = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  // Whether a recording plays may not depend on the sound of the machine.
  '--disable-audio-output',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** Why the tests of the page cannot run here; null when they can. */
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
  /** The only origin that may be asked for anything. */
  origin: string;
  width?: number;
  height?: number;
  colorScheme?: 'light' | 'dark';
  reducedMotion?: 'reduce' | 'no-preference';
  timezoneId?: string;
  /** Pixels of text that nobody has made larger or smaller, as the viewer has set it; usually 16. */
  fontSize?: number;
  /** False: pages are read without their scripts. */
  javaScriptEnabled?: boolean;
}

export interface TestWindow {
  page: Page;
  /** Addresses elsewhere that the page asked for; they were never reached. */
  strayed: string[];
  /** What the browser complained about: errors of scripts, refused resources. */
  complaints: string[];
  close(): Promise<void>;
}

/** One browser window with a profile of its own, which is gone with it. */
export async function openWindow(options: WindowOptions): Promise<TestWindow> {
  const executablePath = findChromium();
  if (executablePath === null) throw new Error(browserMissing() ?? '');
  const profile = await mkdtemp(join(tmpdir(), 'carillon-browser-'));
  const context = await chromium.launchPersistentContext(profile, {
    executablePath,
    args: options.fontSize === undefined ? quietFlags : [...quietFlags, `--blink-settings=defaultFontSize=${options.fontSize}`],
    viewport: { width: options.width ?? 1280, height: options.height ?? 900 },
    colorScheme: options.colorScheme ?? 'light',
    reducedMotion: options.reducedMotion ?? 'reduce',
    javaScriptEnabled: options.javaScriptEnabled ?? true,
    timezoneId: options.timezoneId ?? 'Europe/Berlin',
    locale: 'en-GB',
  });
  const strayed: string[] = [];
  await context.route('**/*', async (route) => {
    const url = route.request().url();
    if (new URL(url).origin === options.origin) return route.continue();
    strayed.push(url);
    return route.abort();
  });
  const page = context.pages()[0] ?? (await context.newPage());
  page.setDefaultTimeout(240_000);
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(message.text());
  });
  return { page, strayed, complaints, close: () => closeAll(context, profile) };
}

async function closeAll(context: BrowserContext, profile: string): Promise<void> {
  await context.close();
  await rm(profile, { recursive: true, force: true, maxRetries: 20 });
}
