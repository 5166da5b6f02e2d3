import { Random } from '../random.ts';
import { asides, instructions } from '../world/lines.ts';
import { asksToStop, saysWrongPerson } from './hearing.ts';
import { speakingMs, type Talk, type Turn } from '../state/talk.ts';

interface Filling {
  seed: string;
  conversationId: string;
  answeredAt: number;
  leastMs: number;
  machine: boolean;
}

/**
 * Makes a talk as long as it has to be without a silence: before the agent goes on, people say something to themselves, a machine
 * explains itself. Everything after moves accordingly. Where the agent never goes on after they spoke, the talk stays as it is.
 */
export function fillTalk(talk: Talk, filling: Filling): Talk {
  const missing = filling.answeredAt + filling.leastMs - talk.endedAt;
  const places = placesIn(talk.turns, filling.machine);
  if (missing <= 0 || places.length === 0) return talk;
  const random = new Random(filling.seed, filling.conversationId, 'asides');
  const lines = filling.machine ? instructions : asides;
  const speaks = lineAfterLine(lines, filling.machine ? 0 : Math.floor(random.between(0, lines.length)));
  const turns: Turn[] = [];
  let shift = 0;
  for (const [index, turn] of talk.turns.entries()) {
    turns.push({ ...turn, at: turn.at + shift, until: turn.until + shift });
    const place = places.indexOf(index);
    if (place === -1) continue;
    const missingHere = (missing * (place + 1)) / places.length - shift;
    if (missingHere <= 0) continue;
    const pauseMs = Math.round(random.between(300, 900));
    const text = speaks(missingHere - pauseMs);
    const at = turn.until + shift + pauseMs;
    turns.push({ speaker: 'user', text, at, until: at + speakingMs(text), aside: true });
    shift += pauseMs + speakingMs(text);
  }
  return { ...talk, turns, endedAt: talk.endedAt + shift };
}

/** After which turns there is room: those of people before the agent speaks again, if possible not where they want to be left alone. */
function placesIn(turns: readonly Turn[], machine: boolean): number[] {
  const places = [...turns.keys()].filter((index) => turns[index]?.speaker === 'user' && turns[index + 1]?.speaker === 'agent');
  if (machine) return places.slice(0, 1);
  const calm = places.filter((index) => {
    const text = turns[index]?.text ?? '';
    // Who speaks before the agent has said a word waits for it.
    return index > 0 && !asksToStop(text) && !saysWrongPerson(text);
  });
  return calm.length > 0 ? calm : places;
}

/** Gives as many lines at a time as it takes to speak for so long, one after the other and then from the first again. */
function lineAfterLine(lines: readonly string[], first: number): (leastMs: number) => string {
  let next = first;
  return (leastMs) => {
    const said: string[] = [];
    do {
      said.push(lines[next % lines.length] ?? '');
      next += 1;
    } while (speakingMs(said.join(' ')) < leastMs);
    return said.join(' ');
  };
}
