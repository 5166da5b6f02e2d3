import { Random } from '../random.ts';
import type { CollectionItem } from '../schemas/agent-schemas.ts';
import type { Call, CallCourse } from './call.ts';

export interface Turn {
  speaker: 'agent' | 'user';
  text: string;
  /** When the turn began, epoch milliseconds of service time. */
  at: number;
}

type CollectedValue = string | number | boolean | null;

export interface Dialogue {
  turns: Turn[];
  collected: Record<string, CollectedValue>;
  /** By id of the criterion. */
  evaluation: Record<string, 'success' | 'failure' | 'unknown'>;
}

type Line = [speaker: Turn['speaker'], text: string];

const greetings = ['Hello?', 'Yes, speaking.', 'Hello, who is this?', 'Hi, yes?'] as const;
const farewells = ['Goodbye.', 'Thank you, bye.', 'All right, bye.'] as const;
const beeps = [
  'The person you are calling is not available. Please leave a message after the tone.',
  'Hi, I cannot come to the phone right now. Leave a message and I will call you back.',
] as const;

/** What was said in a call, and what came of it: a function of (seed, number, nth), the agent as dialled and the opening line. */
export function composeDialogue(seed: string, call: Call, course: CallCourse): Dialogue {
  const random = new Random(seed, call.direction, call.to, call.nth, 'dialogue');
  const items = Object.entries(call.agent?.platform.data_collection ?? {});
  const criteria = call.agent?.platform.evaluation?.criteria ?? [];
  if (course.answeredAt === null || course.brokeDown) return { turns: [], collected: {}, evaluation: {} };
  const opening: Line = ['agent', call.openingLine ?? 'Hello.'];
  const collected: Record<string, CollectedValue> = Object.fromEntries(
    items.map(([id]) => [id, id === 'opt_out' ? course.optedOut : null]),
  );
  const { lines, goal } = speak(random, course, opening, items, collected);
  return {
    turns: spreadOver(random, lines, course.answeredAt, course.endedAt),
    collected,
    evaluation: Object.fromEntries(criteria.map(({ id }) => [id, goal])),
  };
}

function speak(
  random: Random,
  course: CallCourse,
  opening: Line,
  items: [string, CollectionItem][],
  collected: Record<string, CollectedValue>,
): { lines: Line[]; goal: 'success' | 'failure' | 'unknown' } {
  if (course.result === 'voicemail') {
    const lines: Line[] = [
      ['user', random.pick(beeps)],
      opening,
      ['agent', 'Please call us back when it suits you. Goodbye.'],
    ];
    return { lines, goal: 'unknown' };
  }
  if (course.silent) {
    return {
      lines: [opening, ['agent', 'Hello, can you hear me?'], ['agent', 'I will try again another time. Goodbye.']],
      goal: 'unknown',
    };
  }
  const lines: Line[] = [opening, ['user', random.pick(greetings)]];
  if (course.optedOut) {
    lines.push(['agent', 'Do you have a moment?'], ['user', 'No. Please do not call me again.']);
    lines.push(['agent', 'I understand. You will not be called again. Goodbye.']);
    return { lines, goal: 'failure' };
  }
  const questions = items.filter(([id]) => id !== 'opt_out');
  for (const [id, item] of questions) {
    const answer = answerItem(random, item, course.cooperative);
    collected[id] = answer.value;
    lines.push(['agent', askFor(id, item)], ['user', answer.words]);
  }
  lines.push(['agent', 'Thank you for your time. Goodbye.'], ['user', random.pick(farewells)]);
  return { lines, goal: course.cooperative ? 'success' : 'failure' };
}

function askFor(id: string, item: CollectionItem): string {
  const choices = item.enum === undefined ? '' : ` You can say ${item.enum.join(', ')}.`;
  return `${item.description ?? `Could you tell me: ${id.replaceAll('_', ' ')}?`}${choices}`;
}

/** A cooperative callee gives the first choice, the highest mark, or yes. */
function answerItem(
  random: Random,
  item: CollectionItem,
  cooperative: boolean,
): { value: CollectedValue; words: string } {
  if (item.enum !== undefined) {
    const [first = '', ...others] = item.enum;
    const value = cooperative || others.length === 0 ? first : random.pick(others as [string, ...string[]]);
    return { value, words: `${value}, please.` };
  }
  if (item.type === 'boolean') {
    return cooperative ? { value: true, words: 'Yes.' } : { value: false, words: 'No, I do not think so.' };
  }
  if (item.type === 'string') {
    const words = cooperative ? 'Everything is as agreed.' : 'I would rather not say.';
    return { value: cooperative ? words : null, words };
  }
  const value = Math.floor(cooperative ? random.between(4, 6) : random.between(1, 4));
  return { value, words: `I would say ${value}.` };
}

function spreadOver(random: Random, lines: Line[], from: number, to: number): Turn[] {
  const step = (to - from) / (lines.length + 1);
  return lines.map(([speaker, text], index) => ({
    speaker,
    text,
    at: Math.round(from + step * index + (index === 0 ? 0 : random.between(0, step / 2))),
  }));
}
