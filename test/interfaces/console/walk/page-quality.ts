import type { CDPSession, Page } from 'playwright-core';

/** Runs in the page: frame and controls visible on paper, and what is wider than the sheet. */
const onPaper = `(() => {
  const seen = (selector) => [...document.querySelectorAll(selector)].filter((it) => it.checkVisibility() && it.getClientRects().length > 0);
  const controls = seen('.side, .top, .btn, .tabs, .tools, .pager, summary.btn, nav').map((it) => it.className || it.tagName);
  const ground = getComputedStyle(document.body).backgroundColor;
  return [
    ...new Set(controls.map((name) => name + ' is printed')),
    ...(ground === 'rgb(255, 255, 255)' ? [] : ['it is printed on ' + ground]),
    ...(document.documentElement.scrollWidth > innerWidth ? ['it is wider than the sheet'] : []),
  ];
})()`;

/** Runs in the page: clipped text without an ellipsis, and sideways scrolling. */
const cutText = `(() => {
  const own = (it) => [...it.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim() !== '');
  const cut = [...document.querySelectorAll('main *, .side *, .top *')].filter((it) => {
    const { overflowX, overflowY, textOverflow, clipPath } = getComputedStyle(it);
    if (!own(it) || !it.checkVisibility() || textOverflow === 'ellipsis' || clipPath !== 'none') return false;
    const isHidden = (way) => way === 'hidden' || way === 'clip';
    return (isHidden(overflowX) && it.scrollWidth > it.clientWidth + 1) || (isHidden(overflowY) && it.scrollHeight > it.clientHeight + 2);
  });
  return [
    ...cut.map((it) => it.tagName + '.' + it.className + ' is cut: ' + it.textContent.trim().slice(0, 40)),
    ...(document.documentElement.scrollWidth > innerWidth ? ['it scrolls sideways: ' + [...document.querySelectorAll('main *')]
      .filter((it) => it.getBoundingClientRect().right > innerWidth + 1).slice(0, 6).map((it) => it.tagName + '.' + it.className).join(', ')] : []),
  ];
})()`;

/** Runs in the page: one-word ids on two lines, and sideways scrolling. */
const onScreen = `[
  ...[...document.querySelectorAll('.named a')]
    .filter((link) => /^[a-z]+$/.test(link.textContent) && link.getClientRects().length > 1)
    .map((link) => link.textContent + ' is broken'),
  ...(document.documentElement.scrollWidth > innerWidth ? ['it scrolls sideways'] : []),
]`;

/** Runs in the page: controls without a name, duplicate ids, headings, and forms whose second press acts again. */
const onForm = `(() => {
  const controls = [...document.querySelectorAll('form.act :is(input:not([type=hidden]), select, textarea, button)')];
  const ids = [...document.querySelectorAll('[id]')].map(({ id }) => id);
  return [
    ...controls.filter((it) => it.labels?.length === 0 && !it.ariaLabel && it.textContent.trim() === '').map((it) => it.name + ' has no name'),
    ...ids.filter((id, at) => ids.indexOf(id) !== at).map((id) => id + ' is there twice'),
    ...[...document.querySelectorAll('form.act')].filter((it) => !it.elements.key?.value).map(() => 'a form has no key'),
    ...(document.querySelectorAll('h1').length === 1 ? [] : ['it has not one heading']),
  ];
})()`;

export async function formFindings(page: Page): Promise<string[]> {
  return page.evaluate<string[]>(onForm);
}

export async function screenFindings(page: Page): Promise<string[]> {
  return page.evaluate<string[]>(onScreen);
}

/** On an A4 sheet, printed from a dark screen. */
export async function printFindings(page: Page): Promise<string[]> {
  await page.setViewportSize({ width: 794, height: 1123 });
  await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
  const found = await page.evaluate<string[]>(onPaper);
  await page.emulateMedia({ media: 'screen', colorScheme: 'light' });
  return found;
}

/** With text at twice its size. */
export async function largeTextFindings(page: Page, tools: CDPSession): Promise<string[]> {
  await page.setViewportSize({ width: 1280, height: 900 });
  await tools.send('Page.setFontSizes', { fontSizes: { standard: 32 } });
  const found = await page.evaluate<string[]>(cutText);
  await tools.send('Page.setFontSizes', { fontSizes: { standard: 16 } });
  return found;
}

/** How far down progress and figures may reach. */
const firstLooks = [
  { width: 1440, height: 900, most: 600 },
  { width: 390, height: 844, most: 700 },
];
const bottoms = `['#hero', '#key-figures'].map((id) => document.querySelector(id).getBoundingClientRect().bottom + scrollY)`;
const firstWord = `Math.min(...[...document.querySelectorAll('.state, .note-brief, .note')].filter((it) => it.checkVisibility()).map((it) => it.getBoundingClientRect().top + scrollY))`;

/** A campaign's progress, figures and problems that need scrolling. */
export async function firstLookFindings(page: Page): Promise<string[]> {
  const found: string[] = [];
  await page.locator('#key-figures .bone').waitFor({ state: 'detached' });
  for (const { width, height, most } of firstLooks) {
    await page.setViewportSize({ width, height });
    const low = [...(await page.evaluate<number[]>(bottoms)), await page.evaluate<number>(firstWord)].filter((at) => at > most);
    found.push(...low.map((at) => `it reaches down to ${at} at ${width} px`));
  }
  return found;
}
