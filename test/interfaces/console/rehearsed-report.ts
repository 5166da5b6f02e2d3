/** As `carillon rehearse --json` of a small campaign, as far as the page shows it. */
export const rehearsedReport = {
  ok: true,
  faults: [],
  rows: { inList: 3, rehearsed: 3 },
  notes: ['pre_dial is not asked: it counts as allowing every call'],
  outcomes: { completed: 2, exhausted: 1 },
  dispositions: { answered: 2, no_answer: 3 },
  timeline: { firstCallAt: '2030-01-15T14:00:00.000Z', lastCallAt: '2030-01-16T14:05:00.000Z', endedAt: '2030-01-16T14:06:00.000Z' },
  forecast: {
    earliest: { endsAt: '2030-01-15T14:02:00.000Z', calls: 3 },
    likely: { endsAt: '2030-01-16T14:02:00.000Z', calls: 5 },
    slowest: { endsAt: null, calls: 6 },
    rehearsed: { endsAt: '2030-01-16T14:06:00.000Z', calls: 5 },
  },
  verify: { ok: true },
  conduct: { ok: true },
};
