import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Page } from 'playwright-core';
import { expect, onTestFinished, test } from 'vitest';
import { renderHtmlReport } from '../../../src/presentation/report/html-report.ts';
import type { ReportData } from '../../../src/presentation/report/report-data.ts';
import { axeFindings } from '../../support/axe.ts';
import { browserMissing, mustHaveBrowser, openWindow, type WindowOptions } from '../../support/browser.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { isFull } from '../../support/depth.ts';
import { sampleCampaign, samplePeople, sampleReport } from './sample-report.ts';

const missing = browserMissing();
if (missing !== null) console.warn(missing);
const browserTest = test.skipIf(missing !== null && !mustHaveBrowser);

/** A report opened from disk, offline. At the test's end it must have requested and logged nothing. */
async function open(data: ReportData, options: Partial<WindowOptions> = {}): Promise<Page> {
  const path = join(temporaryFolder(), 'report.html');
  writeFileSync(path, renderHtmlReport(data));
  // The origin of a file is "null": everything else strays.
  const window = await openWindow({ origin: 'null', ...options });
  const { page } = window;
  const said: string[] = [];
  const asked: string[] = [];
  page.on('console', (message) => said.push(message.text()));
  page.on('request', (request) => asked.push(request.url()));
  onTestFinished(async () => {
    await window.close();
    expect({ said, asked, strayed: window.strayed, complaints: window.complaints }).toEqual({
      said: [],
      asked: [pathToFileURL(path).href],
      strayed: [],
      complaints: [],
    });
  });
  await page.context().setOffline(true);
  await page.goto(pathToFileURL(path).href);
  return page;
}

const two = (): ReportData =>
  sampleReport({
    campaigns: [sampleCampaign('spring'), sampleCampaign('autumn', { name: 'Autumn check-ups' })],
    people: [samplePeople('spring', 5), samplePeople('autumn', 5)],
  });

browserTest('axe finds nothing; at no width is the report wider than the window, and words in charts stay readable', async () => {
  const page = await open(two());
  for (const width of [1440, 1024, 640, 390, 320]) {
    await page.setViewportSize({ width, height: 900 });
    const scroll = await page.evaluate<number>('document.documentElement.scrollWidth');
    const smallest = await page.evaluate<number>(
      'Math.min(...[...document.querySelectorAll("figure:not(:has(svg[viewBox^=\\"0 0 960\\"])) svg text")].map((text) => text.getBoundingClientRect().height))',
    );
    expect({ width, fits: scroll <= width, readable: smallest >= 8 }).toEqual({ width, fits: true, readable: true });
    for (const colorScheme of isFull
      ? (['light', 'dark'] as const)
      : width === 1440
        ? ['light' as const]
        : width === 320
          ? ['dark' as const]
          : []) {
      await page.emulateMedia({ colorScheme });
      expect({ width, colorScheme, findings: await axeFindings(page) }).toEqual({ width, colorScheme, findings: [] });
    }
  }
});

const colours = `(() => {
  const fill = (name) => getComputedStyle(document.querySelector(\`[fill="var(--chart-\${name})"]\`)).fill;
  return [fill('main'), fill('heat-2'), getComputedStyle(document.body).backgroundColor];
})()`;

browserTest(
  'charts take colours from the scheme, have names and tables, and are reached by keys; paper is white, A4, and cuts nothing off',
  async () => {
    const page = await open(sampleReport());
    const light = await page.evaluate<string[]>(colours);
    await page.emulateMedia({ colorScheme: 'dark' });
    const dark = await page.evaluate<string[]>(colours);
    expect(light.map((colour, index) => colour === dark[index])).toEqual([false, false, false]);
    expect(light[0]).toBe('rgb(0, 114, 178)');
    await page.emulateMedia({ colorScheme: 'dark', media: 'print' });
    expect(await page.evaluate<string[]>(colours)).toEqual([light[0], light[1], 'rgb(255, 255, 255)']);
    const pdf = (await page.pdf({ preferCSSPageSize: true })).toString('latin1');
    const boxes = [...pdf.matchAll(/\/MediaBox \[0 0 ([\d.]+) ([\d.]+)\]/g)].map(([, ...sides]) =>
      sides.map((side) => Math.round(Number(side))),
    );
    expect(boxes.length).toBeGreaterThan(1);
    for (const box of boxes)
      expect(box).toEqual([595, 842].map((side) => expect.toSatisfy((value: number) => Math.abs(value - side) <= 1)));
    // The width of A4 between its margins, at 96 pixels to the inch.
    await page.setViewportSize({ width: 687, height: 1000 });
    const beyond = await page.evaluate<string[]>(
      '[...document.querySelectorAll("body *")].filter((element) => element.getBoundingClientRect().right > 688).map((element) => element.outerHTML.slice(0, 80))',
    );
    expect(beyond).toEqual([]);

    await page.emulateMedia({ media: 'screen' });
    const charts = await page.evaluate<{ names: string[]; tables: number; drawings: number }>(`(() => {
    const drawings = [...document.querySelectorAll('figure svg[role=img]')];
    return {
      names: drawings.map((svg) => svg.querySelector('title').textContent),
      tables: drawings.filter((svg) => svg.closest('figure').querySelector('table tbody tr') !== null).length,
      drawings: drawings.length,
    };
  })()`);
    expect(charts.names.join(', ')).toBe(
      'Funnel, Course, Calls by day, Answer rate by hour of the week, Attempts, Caller numbers, Caller numbers by day, How calls ended, ' +
        'Outcomes of rows, confirmed, polite',
    );
    expect(charts.tables).toBe(charts.drawings);
    const reached = new Set<string>();
    for (let steps = 0; steps < 60; steps += 1) {
      await page.keyboard.press('Tab');
      reached.add(await page.evaluate<string>('document.activeElement.getAttribute("aria-label") ?? ""'));
    }
    for (const name of charts.names) expect(reached).toContain(`${name}, drawn`);
  },
);
