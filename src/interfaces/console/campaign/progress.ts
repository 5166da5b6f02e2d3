import { bar, bone, instant, type OutcomeTone } from '../../../presentation/html/elements.ts';
import { html, type Html, type HtmlValue } from '../../../presentation/html/html.ts';
import { hasClosed, hasEnded } from '../../../rules/lifecycle.ts';
import { outcomeOf, type Outcome } from '../../../rules/outcome.ts';
import { count, span } from '../../../shared/input/figures.ts';
import type { CampaignStatus } from '../../../ledger/campaign/campaign-status.ts';
import type { WaitingGroup } from '../../../ledger/read/waiting.ts';
import type { CampaignView } from '../../../ledger/read/campaign-view.ts';
import { rowsPath } from '../core/links.ts';
import { outcomeParts } from '../../../presentation/html/outcomes.ts';
import { assumptionsText } from './forecast.ts';
import { linesText } from './standing.ts';
import type { ConsoleForecast } from '../../../operations/control/aside/forecast.ts';

/** Those who cannot be called do not count as progress. */
export interface People {
  total: number;
  cannot: number;
  /** All who can be called; `done`: those with an outcome. */
  whole: number;
  done: number;
  /** By outcome, with calling and waiting, in the order of every bar. */
  parts: readonly (readonly [tone: OutcomeTone, people: number])[];
  /** Of `whole`; 100 only when all have an outcome. Null: no recipient can be called. */
  percent: number | null;
}

export function peopleOf({ outcomes, open, planned, waiting, total }: CampaignStatus): People {
  const { done, cannot, parts } = outcomeParts(outcomes, { calling: open + planned, waiting });
  const whole = total - cannot;
  return {
    total,
    cannot,
    whole,
    done,
    parts,
    percent: whole === 0 ? null : Math.floor((100 * done) / whole),
  };
}

export function peopleBar(people: People, big = false): Html {
  const of = (tone: OutcomeTone): string => count(people.parts.find(([each]) => each === tone)?.[1] ?? 0);
  const says = `${count(people.done)} of ${count(people.whole)} people done, ${of('calling')} being called, ${of('waiting')} waiting, ${of('cannot')} cannot be called`;
  return bar(people.parts, { says, big });
}

export interface ProgressData extends Pick<CampaignView, 'campaign' | 'status' | 'limits'> {
  people: People;
  /** Null while it is being read. */
  forecast: ConsoleForecast | null;
  waiting: readonly WaitingGroup[];
  endedAt: number | null;
}

export function hero(seen: ProgressData): Html {
  const { people } = seen;
  return html`<section class="panel" aria-labelledby="progress" id="hero">
    <h2 class="hidden" id="progress">Progress</h2>
    <div class="hero">
      <div class="hero-top">
        <p class="hero-figure">
          <b>${people.percent === null ? '–' : `${people.percent}%`}</b>
          <span class="soft">${count(people.done)} of ${count(people.whole)} people done</span>
        </p>
        ${endText(seen)}
      </div>
      ${peopleBar(people, true)}
      <div class="split">${splitOf(seen).map(splitLink)}</div>
    </div>
  </section>`;
}

interface Split {
  tone: OutcomeTone;
  words: string;
  people: number;
  small: HtmlValue;
  path: string;
}

function splitLink({ tone, words, people, small, path }: Split): Html {
  return html`<a href="${path}"
    ><span><i class="dot ${tone}"></i>${words}</span><b>${count(people)} <small>${small}</small></b></a
  >`;
}

function splitOf({ campaign, status, people, waiting, limits }: ProgressData): Split[] {
  const { campaignId } = campaign;
  const { outcomes } = status;
  const of = (outcome: Outcome): number => outcomes[outcome] ?? 0;
  const share = (some: number): string => (people.whole === 0 ? '' : `${Math.round((100 * some) / people.whole)}%`);
  const cannots = (['rejected', 'undialable', 'suppressed'] as const).toSorted((a, b) => of(b) - of(a));
  const cannot: Split = {
    tone: 'cannot',
    words: 'Cannot be called',
    people: people.cannot,
    small: `of ${count(people.total)}`,
    path: rowsPath(campaignId, { outcome: cannots[0] ?? 'rejected' }),
  };
  if (hasClosed(campaign)) {
    const other = of('unresolved') > 0 ? (['unresolved', 'Need a decision'] as const) : of('cancelled') > of('opted_out') ? (['cancelled', 'Cancelled'] as const) : (['opted_out', 'Opted out'] as const); // prettier-ignore
    const three = [['completed', 'Reached'], ['exhausted', 'Not reached'], other] as const;
    return [
      ...three.map(([outcome, words]) => ({
        tone: outcomeOf[outcome].tone,
        words,
        people: of(outcome),
        small: share(of(outcome)),
        path: rowsPath(campaignId, { outcome }),
      })),
      cannot,
    ];
  }
  const due = waiting.find(({ rule }) => rule === 'due')?.rows ?? 0;
  const next = Math.min(due, status.waiting);
  return [
    {
      tone: 'reached',
      words: 'Done',
      people: people.done,
      small: `${count(of('completed'))} reached`,
      path: rowsPath(campaignId, { state: 'done' }),
    },
    {
      tone: 'calling',
      words: 'Calling',
      people: status.open + status.planned,
      small: limits === null ? '' : linesText(limits),
      path: rowsPath(campaignId, { state: 'open' }),
    },
    {
      tone: 'waiting',
      words: 'Waiting',
      people: status.waiting,
      small:
        status.waiting === 0
          ? ''
          : next > 0 || status.nextDueAt === null
            ? `${count(next)} next in line`
            : html`first ${instant(status.nextDueAt, 'brief')}`,
      path: rowsPath(campaignId, { state: 'waiting' }),
    },
    cannot,
  ];
}

function endText({ campaign, forecast, endedAt, status }: ProgressData): Html {
  const renderEnd = (first: HtmlValue, second: HtmlValue = null, hint: string | null = null): Html =>
    html`<p class="hero-end soft" ${hint === null ? null : html`title="${hint}"`}><b>${first}</b>${second}</p>`;
  const { state, rules, createdAt } = campaign;
  if (hasEnded(campaign)) {
    const word = state === 'completed' ? 'Ended' : state === 'cancelled' ? 'Cancelled' : 'Failed';
    const from = campaign.dialsSince === 0 ? createdAt : campaign.dialsSince;
    return renderEnd(
      endedAt === null ? word : html`${word} ${instant(endedAt, 'minute')}`,
      endedAt === null || endedAt <= from ? null : `after ${span(endedAt - from)}`,
    );
  }
  if (state === 'importing') return renderEnd('The list is being read in');
  if (state === 'draft') return renderEnd('Not started');
  if (state === 'draining')
    return renderEnd('Ends with the last call', status.open === 0 ? 'the last results are still to come' : 'no new calls');
  if (forecast === null) return html`<p class="hero-end soft">${bone('The end is being read')}</p>`;
  const { ends } = forecast;
  const limit = rules.endsAt === null ? null : html`at the latest ${instant(rules.endsAt, 'minute')}`;
  if (ends === null) return renderEnd(status.open + status.planned > 0 ? 'Ends with the last calls' : 'End not known', limit);
  const hint = assumptionsText(forecast);
  const { likely, earliest, slowest } = ends;
  const isCut = (each: typeof likely): boolean => each.neverCalled + each.cutShort > 0 && rules.endsAt !== null;
  const at = (each: typeof likely, show: 'about' | 'minute'): HtmlValue =>
    isCut(each) ? instant(rules.endsAt, show) : each.endless || each.finishesAt === null ? 'more than a year away' : instant(toMinute(each.finishesAt), show); // prettier-ignore
  const between = html`between ${at(earliest, 'minute')} and ${at(slowest, 'minute')}`;
  if (state === 'paused') return renderEnd('End not known', html`${at(likely, 'about')} if resumed now`, hint);
  if (likely.neverCalled > 0 && isCut(likely))
    return renderEnd(html`Ends ${at(likely, 'minute')}`, `too early for a call to ${count(likely.neverCalled)} people`, hint);
  return renderEnd(html`Ends ${at(likely, 'about')}`, between, hint);
}

function toMinute(at: number): number {
  return Math.ceil(at / 60_000) * 60_000;
}
