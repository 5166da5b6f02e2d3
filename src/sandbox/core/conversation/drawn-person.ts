import { Random } from '../random.ts';
import { announcements, greetings, personLines, smallTalk, story } from '../world/lines.ts';
import { languageNames, type Language, type Person, type ScriptLine } from '../world/person.ts';
import type { Recipient, RecipientReply } from './converse.ts';
import { nameAskedFor, saysGoodbye } from './hearing.ts';
import { answerOf } from './person-answers.ts';
import { answerPauseMs } from '../state/talk.ts';
import { questionIn, type Question } from './questions.ts';

export interface PersonFacts {
  seed: string;
  conversationId: string;
  person: Person;
  cooperative: boolean;
  questions: readonly Question[];
  calledIn: Language;
}

export function drawMachine(seed: string, conversationId: string): Recipient {
  const random = new Random(seed, conversationId, 'person');
  return {
    announcement: random.pick(announcements),
    machine: true,
    leavesAfterMs: null,
    reply: () => ({ text: null, hangsUp: false, interrupts: false, pauseMs: 0 }),
  };
}

/** A person who picked up: replies depend on traits, words heard and own draws. */
export function drawPerson({ seed, conversationId, person, cooperative, questions, calledIn }: PersonFacts): Recipient {
  const random = new Random(seed, conversationId, 'person');
  const patience = drawPatience(person, random);
  const { language } = person;
  let excuse = language === null || language === calledIn ? null : personLines.onlySpeak(languageNames[language]);
  const greeting = person.greeting ?? (excuse === null ? random.pick(greetings[person.mood]) : `Hello? ${excuse}`);
  if (person.greeting === null) excuse = null;
  const firstTurn = person.greetsFirst ? 2 : 1;
  let spoken = firstTurn - 1;
  let asked = 0;

  const react = (agentText: string): Pick<RecipientReply, 'text' | 'hangsUp' | 'goesOn'> => {
    const { script } = person;
    if (person.silent) return { text: null, hangsUp: false };
    if (script !== null) return recite(script[spoken - firstTurn], personLines.mustGo);
    if (spoken === 1) return { text: person.wrongPerson ?? greeting, hangsUp: false };
    if (person.talksOn) return { text: story, hangsUp: false, goesOn: true };
    if (saysGoodbye(agentText)) return { text: random.pick(personLines.farewells), hangsUp: true };
    if (spoken >= patience) return { text: personLines.mustGo, hangsUp: true };
    if (person.wrongPerson !== null && spoken === 2) return { text: person.wrongPerson, hangsUp: false };
    if (excuse !== null) {
      const text = excuse;
      excuse = null;
      return { text, hangsUp: false };
    }
    if (person.optsOut !== null) return { text: person.optsOut, hangsUp: false };
    const meant = nameAskedFor(agentText);
    if (meant !== null) return { text: isNamed(person, meant) ? personLines.yes : personLines.isNotMe, hangsUp: false };
    asked += 1;
    if (asked === 1 && person.persona === 'confused') return { text: personLines.repeat, hangsUp: false };
    if (asked === 1 && person.persona === 'suspicious') return { text: personLines.whoIsThis, hangsUp: false };
    const answer = answerOf(person, { heard: agentText, question: questionIn(agentText, questions) }, cooperative, random);
    const chat = person.persona === 'talkative' ? ` ${random.pick(smallTalk)}` : '';
    return { text: answer + chat, hangsUp: false };
  };

  return {
    announcement: person.greetsFirst ? greeting : null,
    machine: false,
    leavesAfterMs: person.leavesAfterSeconds === null ? null : person.leavesAfterSeconds * 1_000,
    reply(agentText) {
      spoken += 1;
      const pauseMs = answerPauseMs(random.next());
      const { text, hangsUp, goesOn } = react(agentText);
      const interrupts = text !== null && (random.chance(person.interrupts) || person.script?.[spoken - firstTurn]?.interrupts === true);
      const leaves = person.leavesAfterTurns !== null && spoken >= person.leavesAfterTurns;
      return {
        text: interrupts && person.script === null && !saysGoodbye(agentText) ? `${personLines.interrupting} ${text}` : text,
        hangsUp: hangsUp || leaves,
        interrupts,
        pauseMs: interrupts ? Math.min(pauseMs, 200) : pauseMs,
        ...(goesOn === true && !leaves ? { goesOn } : {}),
      };
    },
  };
}

function recite(line: ScriptLine | undefined, otherwise: string): { text: string | null; hangsUp: boolean } {
  return line === undefined ? { text: otherwise, hangsUp: true } : { text: line.say, hangsUp: line.hangsUp };
}

/** The turn at which patience ends; drawn, so that people of one mood differ. */
function drawPatience({ mood }: Person, random: Random): number {
  if (mood === 'impatient') return random.chance(0.4) ? Math.floor(random.between(3, 6)) : Infinity;
  if (mood === 'hostile') return random.chance(0.6) ? Math.floor(random.between(2, 4)) : Infinity;
  return Infinity;
}

/** A person without a known name accepts any name. */
function isNamed({ name }: Person, meant: string): boolean {
  if (name === null) return true;
  const own = new Set(name.toLowerCase().split(/\s+/));
  return meant
    .toLowerCase()
    .split(/\s+/)
    .some((part) => own.has(part));
}
