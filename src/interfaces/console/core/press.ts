import { facts, link, instant, figure } from '../../../presentation/html/elements.ts';
import { html, type HtmlValue, type Html } from '../../../presentation/html/html.ts';
import { icon, type IconName } from '../../../presentation/html/icons.ts';
import { printable } from '../../../shared/input/printable.ts';
import type { LastActs } from '../../../ledger/read/last-acts.ts';
import { actionForm, type Given } from './action.ts';
import type { View } from './view.ts';
import type { Campaign } from '../../../ledger/rows/campaigns.ts';
import { stateBadge } from './rows.ts';
import type { CallsTo } from '../../../ledger/read/calls-to.ts';

/** What is done with one press, to something that is named. */
interface Press extends Required<Pick<View, 'title' | 'section' | 'crumbs'>> {
  /** Why it cannot be done now, and with which status that is answered; null: it can. */
  obstacle: { why: string; status: number } | null;
  /** What it does. */
  says: HtmlValue;
  standing: Parameters<typeof facts>[0];
  /** Who acted on it last, to stand behind a refusal. */
  acts?: LastActs;
  button: string;
  /** It cannot be undone. */
  danger?: boolean | undefined;
  back: readonly [path: string, name: string];
  /** What goes on, what stops and what moves, in numbers; in place of what it does in words. */
  effects?: readonly (readonly [drawing: IconName, tone: string, text: HtmlValue])[];
  /** What whoever goes back does. */
  keep?: string;
  /** Fields that go along. */
  body?: HtmlValue;
}

/** Says in numbers what a press does, with the button; or why there is nothing to press, in the words of a refusal where there was one. */
export function pressView(given: Given, press: Press): View {
  const { obstacle, says, standing, acts = { changed: null, acted: null }, button, danger = false, back, body, effects, keep } = press;
  const { title, section, crumbs } = press;
  const reason = given.refused ?? obstacle?.why ?? null;
  return {
    ...(obstacle === null || given.refused !== null ? {} : { status: obstacle.status }),
    title,
    section,
    crumbs,
    body: html`<section class="panel pad-all stack narrow">
      ${reason === null ? null : refusedText(printable(reason), acts)}
      ${obstacle === null ? (effectsOf(effects) ?? html`<p>${says}</p>`) : null} ${standing.length === 0 ? null : facts(standing)}
      ${
        obstacle === null
          ? actionForm(
              { ...given, refused: null },
              {
                button,
                back: back[0],
                ...(keep === undefined ? {} : { keep }),
                ...(danger ? { tone: 'danger' } : {}),
                ...(body === undefined ? {} : { body }),
              },
            )
          : html`<p>${link(back[0], `Back to ${back[1]}`)}</p>`
      }
    </section>`,
  };
}

function effectsOf(effects: Press['effects']): Html | null {
  if (effects === undefined) return null;
  return html`<ul class="ready">
    ${effects.map(([drawing, tone, text]) => html`<li class="${tone}">${icon(drawing)}<span>${text}</span><span></span></li>`)}
  </ul>`;
}

/** Who did what, and when. The command line leaves no name in the log. */
function actedText(acted: LastActs['acted']): HtmlValue {
  if (acted === null) return 'No one, through the console or the API';
  return html`${printable(acted.name)}: ${acted.action.replaceAll('_', ' ')}, ${instant(acted.at, 'full')}`;
}

/** How a campaign stands, since when, and who acted last: names and values for `facts`. */
export function standingFacts({ state, stateReason, createdAt }: Campaign, { changed, acted }: LastActs): (readonly [string, HtmlValue])[] {
  return [
    ['State', [stateBadge(state), stateReason === null ? null : html` ${printable(stateReason)}`]],
    ['Since', instant(changed?.at ?? createdAt, 'full')],
    ['Last changed by', actedText(acted)],
  ];
}

/** Why a form does not do what it is for: what the API said, or that the campaign has moved on since the button was seen. */
export function refusedText(reason: string, { acted }: LastActs): Html {
  const last = acted === null ? null : html` Last changed by ${actedText(acted)}.`;
  return html`<p class="refused" role="alert">${reason}${last}</p>`;
}

/** What an entry of the do-not-call list stops, and what it does not, as facts. */
export function callFacts({ waiting, planned, open }: CallsTo): [string, Html][] {
  return [
    ['Rows that wait for a call, in all campaigns', figure(waiting)],
    ['Planned calls that are stopped', figure(planned)],
    ['Open calls that go on', figure(open)],
  ];
}
