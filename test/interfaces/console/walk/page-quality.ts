import type { Page } from 'playwright-core';

/** Runs in the page: what of its frame and its controls is still to be seen on paper, and what is wider than the sheet. */
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

/** Runs in the page: text that its box cuts off, and a page that scrolls sideways. Text with an ellipsis is whole elsewhere. */
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

/** Runs in the page: ids of one word that stand on two lines, and a page that scrolls sideways. */
const onScreen = `[
  ...[...document.querySelectorAll('.named a')]
    .filter((link) => /^[a-z]+$/.test(link.textContent) && link.getClientRects().length > 1)
    .map((link) => link.textContent + ' is broken'),
  ...(document.documentElement.scrollWidth > innerWidth ? ['it scrolls sideways'] : []),
]`;

/** What is wrong with the page in a window of the present width. */
export async function screenFindings(page: Page): Promise<string[]> {
  return page.evaluate<string[]>(onScreen);
}

/** What is wrong with the page on a sheet of A4, asked for while the screen is dark. */
export async function printFindings(page: Page): Promise<string[]> {
  await page.setViewportSize({ width: 794, height: 1123 });
  await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
  const found = await page.evaluate<string[]>(onPaper);
  await page.emulateMedia({ media: 'screen', colorScheme: 'light' });
  return found;
}

/** What is wrong with the page where the viewer has made text twice its usual size. */
export async function largeTextFindings(page: Page): Promise<string[]> {
  await page.setViewportSize({ width: 1280, height: 900 });
  const tools = await page.context().newCDPSession(page);
  await tools.send('Page.setFontSizes', { fontSizes: { standard: 32 } });
  const found = await page.evaluate<string[]>(cutText);
  await tools.send('Page.setFontSizes', { fontSizes: { standard: 16 } });
  await tools.detach();
  return found;
}
