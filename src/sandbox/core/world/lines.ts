import type { Mood } from './person.ts';

type Lines = readonly [string, ...string[]];

export const agentLines = {
  optedOut: 'I understand. You will not be called again. Goodbye.',
  wrongPerson: 'I am sorry to have disturbed you, I must have the wrong number. Goodbye.',
  thanks: 'Thank you for your time. Goodbye.',
  goodbyeAgain: 'I see. I really have to say goodbye now. Goodbye.',
  again: 'Sorry, I did not get that.',
  otherLanguage: (language: string) => `I am sorry, I do not speak ${language}. Somebody else will have to call you. Goodbye.`,
  isThis: (name: string) => `Am I speaking with ${name}?`,
  automated: (about: string) => `This is an automated call: ${about}.`,
  couldYouTell: (what: string) => `Could you tell me ${what}?`,
  yesOrNo: 'Yes or no?',
  aNumber: 'Please give me a number.',
  choices: (list: string) => `You can say ${list}.`,
  message: 'Please call us back when it suits you. Goodbye.',
  canYouHear: 'Hello, can you hear me?',
  giveUp: 'I will try again another time. Goodbye.',
  timeOver: 'I am afraid that our time is over. Goodbye.',
  acknowledgements: ['Thank you.', 'All right.', 'I see.'] as Lines,
};

export const personLines = {
  farewells: ['Goodbye.', 'Thank you, bye.', 'All right, bye.'] as Lines,
  yes: 'Yes.',
  no: 'No, I do not think so.',
  rather: 'I would rather not say.',
  fine: 'Everything is as agreed.',
  number: (value: number) => `I would say ${value}.`,
  please: (choice: string) => `${choice}, please.`,
  repeat: 'Sorry, what was that?',
  whoIsThis: 'Hold on. Who is this, and why are you calling?',
  mustGo: 'I have to go now. Bye.',
  isNotMe: 'No, you have the wrong person.',
  interrupting: 'Wait, wait.',
  optOut: 'No. Please do not call me again.',
  wrongNumber: 'Sorry, you have the wrong number. There is nobody of that name here.',
  onlySpeak: (language: string) => `I only speak ${language}.`,
};

export const greetings: Readonly<Record<Mood, Lines>> = {
  neutral: ['Hello?', 'Yes, speaking.', 'Hello, who is this?', 'Hi, yes?'],
  friendly: ['Hello! How are you?', 'Hi there, yes, speaking.', 'Good day, hello!'],
  impatient: ['Yes? Make it quick, please.', 'Hello? I do not have much time.'],
  hostile: ['What is it now?', 'Yes? I hope this is not a sales call.'],
};

export const smallTalk: Lines = [
  'The weather has been lovely here, too.',
  'I was just about to make some tea, you know.',
  'It is nice to hear a friendly voice.',
];

export const announcements: Lines = [
  'The person you are calling is not available. Please leave a message after the tone.',
  'Hi, I cannot come to the phone right now. Leave a message and I will call you back.',
];

export const fillerLines: Lines = [
  'One moment, please.',
  'Let me find something to write with.',
  'I had a pen here a minute ago.',
  'It is a bit of a mess on this table, I am afraid.',
  'Let me close the window, it is loud out there.',
  'There, now I hear you better.',
  'Where did I put my glasses?',
  'Right, I have a sheet of paper.',
  'I am writing this down, so that I remember it.',
  'The dog wants to go out, it has to wait a little.',
  'Let me sit down for this.',
  'So, I am with you again.',
];

/** Monologue of a person who keeps talking regardless of questions. */
export const story =
  'Well, let me tell you how it all began. That was long ago, when we still had the old house with the garden, and the neighbours would come over every Sunday and stay until late, and on such a Sunday the phone rang, much like today, and everybody hoped that somebody else would get up and take it. So I did, and you will be surprised who was on the line. It was an old friend of my mother, and we talked all afternoon, about the garden, about the rain, about everything. We still write to each other at the end of the year, and every letter is longer than the last. And that is only the beginning, because the year after that we had the big flood, and that is another story altogether.';

/** What a machine says after its announcement. */
export const instructions: Lines = [
  'When you have finished recording, you may simply hang up.',
  'To listen to your message, press one.',
  'To record it again, press two.',
  'To hear these choices once more, press three.',
];
