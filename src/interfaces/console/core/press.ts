import { randomUUID } from 'node:crypto';
import { facts, link, instant, figure } from '../../../presentation/html/elements.ts';
import { html, type HtmlValue, type Html } from '../../../presentation/html/html.ts';
import { icon, type IconName } from '../../../presentation/html/icons.ts';
import { printable } from '../../../shared/input/printable.ts';
import { readLastActs, type LastActs } from '../../../ledger/read/campaign-view.ts';
import type { View } from './view.ts';
import type { Campaign } from '../../../ledger/rows/campaigns.ts';
import { stateBadge } from './rows.ts';
import { countCallsTo } from '../../../ledger/read/live-calls.ts';
import type { Queries } from '../../../ledger/tx.ts';

export type Answer = Record<string, unknown>;

export interface FormInput {
  fields: URLSearchParams | null;
  refused: string | null;
  /** Refused request fields; `refused` names them, too. */
  errors?: readonly FieldError[];
  answer: Answer | null;
}

export interface FieldError {
  path: string;
  message: string;
}

export interface Confirmation extends Pick<View, 'title' | 'section' | 'crumbs' | 'actions'> {
  /** Why it is impossible now, and its status (default: 200); null: possible. */
  obstacle?: { why: string; status?: number } | string | null;
  says?: HtmlValue;
  /** What continues, stops and moves, in numbers; replaces `says`. */
  effects?: readonly Effect[];
  standing?: Parameters<typeof facts>[0];
  /** Last actor, shown with a refusal. */
  acts?: LastActs;
  found?: HtmlValue;
  /** Replaces all else, such as a secret shown once. */
  instead?: HtmlValue;
  button: string;
  danger?: boolean | undefined;
  back: readonly [path: string, name: string];
  keep?: string;
  body?: HtmlValue;
  /** Request fields whose errors `body` shows in place. */
  tells?: readonly string[];
  isWide?: boolean;
}

export type Effect = readonly [drawing: IconName, tone: string, text: HtmlValue];

/**
 * Shows an action's effects and its form, with an idempotency key so that a double click acts once; or why it is impossible or was refused.
 */
export function confirmationView({ refused, errors = [] }: FormInput, confirmation: Confirmation, takesFiles: boolean): View {
  const {
    obstacle = null,
    says,
    standing = [],
    acts = { changed: null, acted: null },
    button,
    danger = false,
    back,
    body,
    effects,
  } = confirmation;
  const { title, section, crumbs, actions, found, instead, keep = 'Back, change nothing', tells = [], isWide = false } = confirmation;
  const { why, status = 200 } = typeof obstacle === 'object' && obstacle !== null ? obstacle : { why: obstacle };
  const isToldBelow = why === null && errors.length > 0 && errors.every(({ path }) => tells.includes(path));
  const reason = isToldBelow ? null : (refused ?? why);
  const form = html`<form class="act" method="post" ${takesFiles ? html`enctype="multipart/form-data"` : null}>
    <input type="hidden" name="key" value="${randomUUID()}" />
    ${body}
    <p class="actions">
      <button class="btn primary${danger ? ' danger' : ''}">${button}</button>
      <a class="btn bare" href="${back[0]}">${keep}</a>
    </p>
  </form>`;
  return {
    ...(why === null || refused !== null ? {} : { status }),
    title,
    ...(section === undefined ? {} : { section }),
    ...(crumbs === undefined ? {} : { crumbs }),
    actions,
    body:
      instead ??
      html`<section class="panel pad-all stack${isWide ? '' : ' narrow'}">
        ${reason === null ? null : refusedText(printable(reason), acts)}
        ${why !== null ? null : effects === undefined ? (says == null ? null : html`<p>${says}</p>`) : effectsOf(effects)}
        ${standing.length === 0 ? null : facts(standing)} ${found}
        ${why === null ? form : html`<p>${link(back[0], `Back to ${back[1]}`)}</p>`}
      </section>`,
  };
}

function effectsOf(effects: readonly Effect[]): Html {
  return html`<ul class="ready">
    ${effects.map(([drawing, tone, text]) => html`<li class="${tone}">${icon(drawing)}<span>${text}</span><span></span></li>`)}
  </ul>`;
}

/** The command line leaves no name in the log. */
function actedText(acted: LastActs['acted']): HtmlValue {
  if (acted === null) return 'No one, through the console or the API';
  return html`${printable(acted.name)}: ${acted.action.replaceAll('_', ' ')}, ${instant(acted.at, 'full')}`;
}

/** State, since when, and last actor, for `facts`. */
export async function readStatusFacts(db: Queries, { campaignId, state, stateReason, createdAt }: Campaign) {
  const acts = await readLastActs(db, campaignId);
  const standing = [
    ['State', [stateBadge(state), stateReason === null ? null : html` ${printable(stateReason)}`]],
    ['Since', instant(acts.changed?.at ?? createdAt, 'full')],
    ['Last changed by', actedText(acts.acted)],
  ] as const;
  return { acts, standing };
}

/** The operation's refusal, or a change of the campaign since the button was shown. */
function refusedText(reason: string, { acted }: LastActs): Html {
  const last = acted === null ? null : html` Last changed by ${actedText(acted)}.`;
  return html`<p class="refused" role="alert">${reason}${last}</p>`;
}

/** In all campaigns. */
export async function callFacts(db: Queries, numbers: readonly string[]): Promise<[string, Html][]> {
  const { waiting, planned, open } = await countCallsTo(db, numbers);
  return [
    ['Rows that wait for a call, in all campaigns', figure(waiting)],
    ['Planned calls that are stopped', figure(planned)],
    ['Open calls that go on', figure(open)],
  ];
}
