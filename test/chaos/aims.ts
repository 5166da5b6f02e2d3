import type { Act } from './acts.ts';
import type { Case } from './design.ts';
import type { DatabaseKind } from './ledger-level.ts';

/** Where in the design a guard is looked for. */
export interface Aim {
  /** SQLite when it is left out. */
  database?: DatabaseKind;
  /** Names of them. */
  scenarios: readonly string[];
  kinds: readonly Case['kind'][];
  /** What a second process or a person does; every act when it is left out. */
  acts?: readonly Act[];
  /** Operations of the campaign that it happens to; every one when it is left out. */
  operations?: readonly string[];
}

/** A guard, and where it is looked for, or why no case can see it: then its test does. */
export type Aimed = { guard: string } & ({ aim: Aim } | { unseen: string });

/** An act of a second process or a person during a submit of the calm campaign. */
function besideSubmit(act: Act): Aim {
  return { scenarios: ['calm'], kinds: ['beside'], acts: [act], operations: ['submit'] };
}

/** The same while the dial transaction has all but committed. */
function insideSubmit(...acts: Act[]): Aim {
  return { database: 'postgres', scenarios: ['calm'], kinds: ['inside'], acts, operations: ['submit'] };
}

/** The process that submits is struck. */
function struckSubmit(...scenarios: string[]): Aim {
  return { scenarios, kinds: ['struck'], operations: ['submit'] };
}

/** A second worker submits when the service has denied calls that it makes. */
const besideDenial: Aim = {
  scenarios: ['limited, and yet called'],
  kinds: ['beside'],
  acts: ['submit'],
  operations: ['submit'],
};

const [noReset, oneCampaign, ownWords, knowing, alone] = [
  'no database is set back, and no workflow',
  'one campaign runs at a time',
  'everybody has a number and words of their own',
  'the operator of these campaigns knows whom the service called',
  'one process at a time reads the list of an agent',
];

/** The guards of what the ledger promises whatever process dies or comes between; those about what records say have worlds of their own. */
export const aims: readonly Aimed[] = [
  // No second request.
  { guard: 'compare-and-set of batches', aim: besideSubmit('submit') },
  { guard: 'states from which a batch may move', aim: besideSubmit('submit') },
  { guard: 'the second entry makes it unknown', aim: struckSubmit('calm') },
  { guard: 'the witness', unseen: noReset },
  { guard: 'no POST without a witness', unseen: noReset },
  { guard: 'the posting deadline', unseen: 'nobody stands still until a batch without an answer is decided about' },
  {
    guard: 'the first verdict of a request',
    unseen: 'a second verdict is the same, or meets a batch that has moved on',
  },
  { guard: 'a verdict of its own entry', unseen: 'it takes a process that is struck and one that stands still' },
  { guard: 'a lost answer to the commit', unseen: 'without it rows are left to an operator, which is allowed' },
  { guard: 'the wait while a batch is unknown', unseen: 'no outage lasts longer than a request' },
  { guard: 'READ COMMITTED, pinned', unseen: 'the database has its usual default' },

  // No call that a person has stopped.
  { guard: 'do-not-call in the dial transaction', aim: besideSubmit('suppress') },
  { guard: 'the lock of the do-not-call list', aim: insideSubmit('suppress') },
  { guard: 'the lock of who writes to the do-not-call list', aim: insideSubmit('suppress') },
  { guard: 'an opt-out is a do-not-call entry', unseen: oneCampaign },
  { guard: 'pause in the dial transaction', aim: besideSubmit('pause') },
  { guard: 'the lock of a campaign', aim: insideSubmit('pause') },
  { guard: 'wishes by id', unseen: noReset },
  { guard: 'wishes in their order', unseen: 'wishes come in their order' },
  { guard: 'open calls and withdrawals', aim: besideSubmit('withdraw') },
  { guard: 'open calls and corrections', aim: besideSubmit('update') },
  { guard: 'withdrawn stays withdrawn', unseen: 'no record comes after its call was settled' },

  // No call after an answer, and no two at once.
  { guard: 'consent in the dial transaction', unseen: 'no list tells of consent' },
  { guard: 'house rules', aim: { scenarios: ['house rules'], kinds: ['struck', 'beside'], operations: ['plan', 'submit'] } },
  { guard: 'what the house requires', unseen: 'the house requires nothing of these campaigns' },
  {
    guard: 'consent that is taken back',
    aim: { scenarios: ['consent taken back'], kinds: ['beside'], acts: ['revoke'], operations: ['submit'] },
  },
  { guard: 'room of a number for call backs', unseen: 'whoever is called back has a number without a limit' },
  {
    guard: 'limits of a caller number, in planner and dial transaction',
    aim: { scenarios: ['one call an hour'], kinds: ['struck'], operations: ['plan', 'submit'] },
  },
  {
    guard: 'the pilot, in planner and dial transaction',
    aim: { scenarios: ['a pilot'], kinds: ['struck'], operations: ['plan', 'submit'] },
  },
  {
    guard: 'the end of a row',
    aim: {
      scenarios: ['rows by request, and the service wants no calls then'],
      kinds: ['struck', 'beside'],
      operations: ['plan', 'submit'],
    },
  },
  { guard: 'reached since planning', unseen: 'no record comes after its call was settled' },
  { guard: 'unique index attempts_one_open', unseen: ownWords },
  { guard: 'unique index attempts_one_wording', unseen: ownWords },
  { guard: 'free words in the planner', unseen: ownWords },
  { guard: 'words kept apart, by index and planner', unseen: ownWords },
  { guard: 'lines that begin one another', unseen: ownWords },
  { guard: 'the lock of recipients', unseen: oneCampaign },
  { guard: 'a late confirmation of a batch in redial', unseen: knowing },
  { guard: 'retry leaves doubt alone', unseen: 'no campaign is retried' },
  { guard: 'rule 8: reading the list before a second POST', aim: besideDenial },
  { guard: 'rule 8: doubts about a denied batch', unseen: 'records name their calls' },
  { guard: 'rule 8: the minute after a 429', unseen: 'records are listed when their call begins' },
  { guard: 'rule 8: released calls', aim: besideDenial },
  { guard: 'rule 8: a record of a released call', aim: besideDenial },
  { guard: 'rule 8: the wait after 400 and 422', aim: struckSubmit('refused, and yet called') },
  { guard: 'rule 8: doubts about a refused batch, in both places', unseen: 'records name their calls' },
  { guard: 'the settle deadline', unseen: 'a list that lags keeps its people from being called for other reasons' },
  {
    guard: 'a sweep begun after the deadline',
    unseen: 'a list that lags keeps its people from being called for other reasons',
  },
  { guard: 'time without sweeps', unseen: 'the list is read all the time' },
  { guard: 'the wait of an unknown batch', unseen: knowing },

  // Nobody who was talked to is called again unless they asked for it, and then at their time.
  { guard: 'a talk ends its row', unseen: 'whatever puts a row in line asks whether it was talked to' },
  { guard: 'only a complete record asks for a call', unseen: 'records are complete before they are read' },
  { guard: 'a running analysis asks for nothing', unseen: 'records are complete before they are read' },
  { guard: 'a row waits for its record', unseen: 'records are complete before they are read' },
  { guard: 'only their own record asks for a call', unseen: ownWords },
  { guard: 'a promised number is left alone', unseen: oneCampaign },
  {
    guard: 'no promise is kept late',
    aim: {
      scenarios: ['asked to call back'],
      kinds: ['beside', 'clock set'],
      acts: ['plan', 'submit', 'sweep'],
      operations: ['submit', 'plan'],
    },
  },
  {
    guard: 'missed promises are told',
    aim: {
      scenarios: ['asked to call back, and the service wants no calls then'],
      kinds: ['struck', 'beside'],
      operations: ['plan', 'submit'],
    },
  },
  { guard: 'a promise is for after its talk', unseen: 'nobody names the instant of the call' },

  // One outcome for each row.
  { guard: 'one batch for one number', aim: { scenarios: ['calm'], kinds: ['struck'], operations: ['plan'] } },
  {
    guard: 'no plan in a round that has ended',
    aim: { scenarios: ['request lost'], kinds: ['stalled'], acts: ['plan'], operations: ['resolve'] },
  },
  { guard: 'the end of a round', aim: besideSubmit('close round') },
  { guard: 'a final record settles its call', unseen: alone },
  { guard: 'claims are current', unseen: alone },
];
