import { bone, figures, instant } from '../../../presentation/html/elements.ts';
import { html, type Html } from '../../../presentation/html/html.ts';
import { hasEnded } from '../../../rules/lifecycle.ts';
import { countCalls } from '../../../rules/disposition.ts';
import { goalShare } from '../../../rules/talk-results.ts';
import { costOf, moneyText, type Price } from '../../../rules/price.ts';
import type { CampaignBrief } from '../../../ledger/read/campaign-view.ts';
import type { CampaignTimeline } from '../../../ledger/read/timeline.ts';

const hourMs = 3_600_000;
const mostBars = 12;

/** Calls by hour, from the first to the last, including hours without a call. */
export function callsByHour({ points }: Pick<CampaignTimeline, 'points'>): { at: number; calls: number }[] {
  const hours = new Map<number, number>();
  for (const { at, starts } of points) {
    const hour = Math.floor(at / hourMs) * hourMs;
    hours.set(hour, (hours.get(hour) ?? 0) + starts);
  }
  return [...hours].map(([at, calls]) => ({ at, calls }));
}

export function spark(
  hours: readonly { at: number; calls: number }[],
  { goesOn, tall = false }: { goesOn: boolean; tall?: boolean },
): Html {
  const height = tall ? 60 : 30;
  const most = Math.max(1, ...hours.map(({ calls }) => calls));
  const width = 100 / Math.max(mostBars, hours.length);
  return html`<svg
    class="plot spark${tall ? ' tall' : ''}"
    viewBox="0 0 100 ${height}"
    preserveAspectRatio="none"
    role="img"
    aria-label="Calls per hour: ${hours.map(({ calls }) => calls).join(', ')}"
  >
    ${hours.map(({ calls }, index) => {
      const own = Math.max(calls === 0 ? 0 : 1, (calls / most) * height);
      return html`<rect
        class="${goesOn && index === hours.length - 1 ? 'soft' : ''}"
        x="${(index * width).toFixed(2)}"
        y="${(height - own).toFixed(1)}"
        width="${(width * 0.78).toFixed(2)}"
        height="${own.toFixed(1)}"
      ></rect>`;
    })}
  </svg>`;
}

/** Undefined: still being read. `course` null: no call yet. */
export interface Measured {
  course?: CampaignTimeline | null;
  talk?: { calls: number; talkMs: number; lineMs: number };
}

export function keyFigures({ campaign, status }: Pick<CampaignBrief, 'campaign' | 'status'>, { course, talk }: Measured): Html {
  const { dispositions, outcomes, open } = status;
  const { calls, answered } = countCalls(dispositions);
  const optedOut = outcomes.opted_out ?? 0;
  const part = (some: number, of: number): string => (of === 0 ? '–' : `${Math.round((100 * some) / of)}%`);
  const { price } = campaign.rules;
  const minutes = talk === undefined ? null : Math.round(talk.talkMs / 60_000);
  const entries = [
    {
      name: 'Answered',
      value: part(answered, calls),
      of: calls === 0 ? 'no call has ended yet' : `${answered.toLocaleString('en')} of ${calls.toLocaleString('en')} calls`,
    },
    {
      name: 'Opt-outs',
      value: optedOut.toLocaleString('en'),
      of: answered === 0 ? 'nobody has answered yet' : `${part(optedOut, answered)} of answered calls`,
    },
    hourly(course, { goesOn: !hasEnded(campaign) && open > 0, reached: outcomes.completed ?? 0, calls, isOver: hasEnded(campaign) }),
    {
      name: 'Talk time',
      value:
        minutes === null
          ? bone('Talk time is being read')
          : talk?.calls === 0
            ? '–'
            : html`${minutes.toLocaleString('en')} <small>min</small>`,
      of: talk === undefined ? null : talk.calls === 0 ? 'no conversation yet' : `${lasting(talk.talkMs / talk.calls)} per answered call`,
    },
    ...goalFigure(campaign, status),
    ...(price === undefined ? [] : [costFigure(price, talk?.lineMs)]),
  ];
  return html`<section class="panel" aria-labelledby="figs" id="key-figures">
    <h2 class="hidden" id="figs">Key figures</h2>
    ${figures(entries)}
  </section>`;
}

function costFigure(price: Price, lineMs: number | undefined): Parameters<typeof figures>[0][number] {
  const rate = `${moneyText(price.perMinuteMicros, price.currency, 6)} a minute`;
  const value = lineMs === undefined ? bone('The cost is being read') : moneyText(costOf(lineMs, price), price.currency);
  return { name: 'Cost', value, of: rate };
}

function hourly(
  course: CampaignTimeline | null | undefined,
  { goesOn, reached, calls, isOver }: { goesOn: boolean; reached: number; calls: number; isOver: boolean },
): Parameters<typeof figures>[0][number] {
  if (isOver)
    return {
      name: 'Calls per person reached',
      value: reached === 0 ? '–' : (calls / reached).toFixed(1),
      of: `${calls.toLocaleString('en')} ${calls === 1 ? 'call' : 'calls'} in all`,
    };
  const name = 'Calls per hour';
  if (course === undefined) return { name, value: bone('Calls per hour are being read') };
  const hours = course === null ? [] : callsByHour(course);
  const busy = hours.filter(({ calls: each }) => each > 0);
  if (course === null || busy.length === 0) return { name, value: '–', of: 'no call yet' };
  const mean = Math.round(busy.reduce((sum, { calls: each }) => sum + each, 0) / busy.length);
  return {
    name,
    value: html`<span>${mean.toLocaleString('en')}</span>${spark(hours.slice(-mostBars), { goesOn })}`,
    of: html`since ${instant(course.from, 'minute')}`,
    plot: true,
  };
}

function lasting(ms: number): string {
  const seconds = Math.round(ms / 1000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')} min`;
}

function goalFigure(
  { rules }: CampaignBrief['campaign'],
  { results }: CampaignBrief['status'],
): { name: string; value: string; of: string }[] {
  const goal = goalShare(rules.results, results);
  if (goal === null) return [];
  const { count, of, share, low, high } = goal;
  if (share === null) return [{ name: 'Goal', value: '–', of: 'no talk has been judged yet' }];
  const between = `${Math.round((low ?? 0) * 100)} to ${Math.round((high ?? 1) * 100)}%`;
  const value = `${Math.round(share * 100)}%`;
  const most = rules.stopAt === undefined ? '' : `; stops at ${rules.stopAt.goal.toLocaleString('en')}`;
  return [{ name: 'Goal', value, of: `${count.toLocaleString('en')} of ${of.toLocaleString('en')} talks, likely ${between}${most}` }];
}
