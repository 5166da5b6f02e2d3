import { facts, link } from '../../../presentation/html/elements.ts';
import { html, type HtmlValue } from '../../../presentation/html/html.ts';
import { printable } from '../../../shared/input/printable.ts';
import type { LastActs } from '../../../ledger/read/last-acts.ts';
import { actionForm, type Given } from './action.ts';
import { refusedText } from './standing.ts';
import type { View } from './view.ts';

/** What is done with one press, to something that is named. */
interface Press extends Required<Pick<View, 'title' | 'section' | 'crumbs'>> {
  /** Why it cannot be done now, and with which status that is answered; null: it can. */
  obstacle: { why: string; status: number } | null;
  /** What it does. */
  says: HtmlValue;
  /** How the thing stands, in numbers where there are some. */
  standing: Parameters<typeof facts>[0];
  /** Who acted on it last, to stand behind a refusal. */
  acts?: LastActs;
  button: string;
  /** It cannot be undone. */
  danger?: boolean | undefined;
  back: readonly [path: string, name: string];
  /** Fields that go along. */
  body?: HtmlValue;
}

/** Says in numbers what a press does, with the button; or why there is nothing to press, in the words of a refusal where there was one. */
export function pressView(given: Given, press: Press): View {
  const { obstacle, says, standing, acts = { changed: null, acted: null }, button, danger = false, back, body } = press;
  const { title, section, crumbs } = press;
  const reason = given.refused ?? obstacle?.why ?? null;
  return {
    ...(obstacle === null || given.refused !== null ? {} : { status: obstacle.status }),
    title,
    section,
    crumbs,
    body: html`<section class="panel">
      ${reason === null ? null : refusedText(printable(reason), acts)} ${obstacle === null ? html`<p>${says}</p>` : null} ${facts(standing)}
      ${
        obstacle === null
          ? actionForm(
              { ...given, refused: null },
              { button, back: back[0], ...(danger ? { tone: 'danger' } : {}), ...(body === undefined ? {} : { body }) },
            )
          : html`<p>${link(back[0], `Back to ${back[1]}`)}</p>`
      }
    </section>`,
  };
}
