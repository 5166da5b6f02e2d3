import type { ReportedTimeline, Funnel } from '../../../src/ledger/read/campaign-report.ts';
import type { CallerLine, CallLine, CountLine, WeekHour } from '../../../src/ledger/read/report.ts';
import {
  attemptsChart,
  callerDaysChart,
  callersChart,
  daysChart,
  dispositionChart,
  weekChart,
} from '../../../src/presentation/charts/calls.ts';
import type { Chart } from '../../../src/presentation/charts/chart.ts';
import { courseChart } from '../../../src/presentation/charts/timeline.ts';
import { countsChart, funnelChart } from '../../../src/presentation/charts/rows.ts';

export function callLine(value: string | number, calls: number, answered: number, open = 0): CallLine {
  const ended = calls - open;
  const rate = ended === 0 ? null : answered / ended;
  return { value, calls, open, answered, answerRate: rate, talkSeconds: answered === 0 ? null : answered * 60 };
}

const minuteMs = 60_000;
const noon = Date.UTC(2030, 0, 15, 12);
const days = [callLine('2030-01-15', 60, 30), callLine('2030-01-16', 40, 10, 5)];

export interface SampleData {
  funnel: Funnel;
  course: ReportedTimeline | null;
  week: WeekHour[];
  attempts: CallLine[];
  days: CallLine[];
  callers: CallerLine[];
  dispositions: CallLine[];
  collected: CountLine[];
}

/** A campaign of 120 rows that has called on two days, with a pause and two rate limits. */
export const sample: SampleData = {
  funnel: { listed: 120, usable: 110, called: 80, answered: 64, completed: 60, notCalled: { suppressed: 3 } },
  course: {
    stepMs: 5 * minuteMs,
    points: Array.from({ length: 60 }, (_, n) => ({
      at: noon + n * 5 * minuteMs,
      starts: n < 50 ? 2 : 0,
      ends: n < 45 ? 2 : 1,
      open: n < 45 ? 4 : 5,
      allowed: n < 10 ? 5 : 10,
      limited: n === 7 || n === 9 ? 1 : 0,
    })),
    pauses: [
      { fromAt: noon + 20 * minuteMs, toAt: noon + 50 * minuteMs, reason: 'paused by a person' },
      { fromAt: noon + 280 * minuteMs, toAt: null, reason: null },
    ],
  },
  week: [
    { weekday: 1, hour: 9, ...callLine('', 60, 30) },
    { weekday: 2, hour: 11, ...callLine('', 40, 10, 5) },
    { weekday: 2, hour: 12, ...callLine('', 3, 0, 3) },
  ],
  attempts: [callLine(1, 70, 30), callLine(2, 30, 10, 5)],
  days,
  callers: [
    { ...callLine('pn_main', 100, 40, 5), days },
    { ...callLine('pn_second', 3, 0, 3), days: [callLine('2030-01-16', 3, 0, 3)] },
  ],
  dispositions: [callLine('answered', 60, 40), callLine('no_answer', 38, 0), callLine('open', 5, 0, 5)],
  collected: [
    { value: 'yes', count: 45, share: 0.75 },
    { value: 'no', count: 15, share: 0.25 },
  ],
};

/** Every chart there is, by its name here. */
export function allCharts(data: SampleData): Record<string, Chart> {
  return {
    funnel: funnelChart(data.funnel),
    course: courseChart(data.course),
    week: weekChart(data.week),
    attempts: attemptsChart(data.attempts),
    days: daysChart(data.days),
    callers: callersChart(data.callers),
    callerDays: callerDaysChart(data.callers),
    dispositions: dispositionChart(data.dispositions),
    collected: countsChart('Collected: confirmed', { lines: data.collected, unit: 'Calls' }),
  };
}
