import type { Mood } from './person.ts';
import type { Language } from './language.ts';

type Lines = readonly [string, ...string[]];

const english = {
  greetings: ['Hello?', 'Yes, speaking.', 'Hello, who is this?', 'Hi, yes?'] as Lines,
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
  nothingElse: 'No, that is all, thank you.',
  interrupting: 'Wait, wait.',
  optOut: 'No. Please do not call me again.',
  wrongNumber: 'Sorry, you have the wrong number. There is nobody of that name here.',
};

/** What people say of themselves. */
export type PersonLines = typeof english;

const spanish: PersonLines = {
  greetings: ['Hola, ¿diga?', 'Sí, ¿quién habla?', 'Hola, ¿quién es usted?'],
  farewells: ['Adiós, gracias.', 'Gracias, adiós.'],
  yes: 'Sí.',
  no: 'No, creo que no.',
  rather: 'Prefiero no decirlo.',
  fine: 'Todo está como acordamos.',
  number: (value) => `Diría que ${value}.`,
  please: (choice) => `${choice}, por favor.`,
  repeat: '¿Cómo? No entiendo, ¿puede repetir por favor?',
  whoIsThis: 'Un momento. ¿Quién habla y por qué llama usted?',
  mustGo: 'Tengo que irme. Adiós.',
  isNotMe: 'No, es un número equivocado.',
  nothingElse: 'No, eso es todo, gracias.',
  interrupting: 'Espere, espere.',
  optOut: 'No. Por favor, no me llamen más.',
  wrongNumber: 'Lo siento, es un número equivocado.',
};

const german: PersonLines = {
  greetings: ['Hallo, wer ist da?', 'Ja, hallo, wer spricht da bitte?', 'Hallo, ja bitte?'],
  farewells: ['Danke, auf Wiederhören.', 'Auf Wiederhören.'],
  yes: 'Ja.',
  no: 'Nein, ich glaube nicht.',
  rather: 'Das möchte ich lieber nicht sagen.',
  fine: 'Es ist alles wie vereinbart.',
  number: (value) => `Ich würde sagen ${value}.`,
  please: (choice) => `${choice}, bitte.`,
  repeat: 'Wie bitte? Ich verstehe das nicht.',
  whoIsThis: 'Moment. Wer ist da, und warum rufen Sie mich an?',
  mustGo: 'Ich muss jetzt auflegen. Auf Wiederhören.',
  isNotMe: 'Nein, Sie sind falsch verbunden.',
  nothingElse: 'Nein, das ist alles, danke.',
  interrupting: 'Warten Sie bitte.',
  optOut: 'Nein. Bitte rufen Sie mich nicht mehr an.',
  wrongNumber: 'Tut mir leid, Sie sind falsch verbunden.',
};

const french: PersonLines = {
  greetings: ['Allô, oui ?', 'Oui, bonjour, qui est à l’appareil ?', 'Allô, bonjour ?'],
  farewells: ['Merci, au revoir.', 'Au revoir.'],
  yes: 'Oui.',
  no: 'Non, je ne pense pas.',
  rather: 'Je préfère ne pas le dire.',
  fine: 'Tout est comme convenu.',
  number: (value) => `Je dirais ${value}.`,
  please: (choice) => `${choice}, s’il vous plaît.`,
  repeat: 'Comment ? Je ne comprends pas.',
  whoIsThis: 'Attendez. Qui est à l’appareil, et pourquoi m’appelez-vous ?',
  mustGo: 'Je dois y aller. Au revoir.',
  isNotMe: 'Non, vous avez le mauvais numéro.',
  nothingElse: 'Non, c’est tout, merci.',
  interrupting: 'Attendez, attendez.',
  optOut: 'Non. Ne m’appelez plus, s’il vous plaît.',
  wrongNumber: 'Désolé, vous vous trompez de numéro.',
};

export const personLines: Readonly<Record<Language, PersonLines>> = {
  en: english,
  es: spanish,
  de: german,
  fr: french,
};

/** First words of somebody who speaks English, by mood. */
export const moodGreetings: Readonly<Record<Exclude<Mood, 'neutral'>, Lines>> = {
  friendly: ['Hello! How are you?', 'Hi there, yes, speaking.', 'Good day, hello!'],
  impatient: ['Yes? Make it quick, please.', 'Hello? I do not have much time.'],
  hostile: ['What is it now?', 'Yes? I hope this is not a sales call.'],
};

/** What somebody talkative adds to an answer. */
export const smallTalk: Lines = [
  'The weather has been lovely here, too.',
  'I was just about to make some tea, you know.',
  'It is nice to hear a friendly voice.',
];

/** What somebody tells who never stops. No words in it that would pass for an answer. */
export const stories: Lines = [
  'Well, let me tell you how it all began. That was long ago, when we still had the old house with the garden, and the neighbours would come over every Sunday and stay until late, and on such a Sunday the phone rang, much like today, and everybody hoped that somebody else would get up and take it. So I did, and you will be surprised who was on the line. It was an old friend of my mother, and we talked all afternoon, about the garden, about the rain, about everything. We still write to each other at the end of the year, and every letter is longer than the last. And that is only the beginning, because the year after that we had the big flood, and that is another story altogether.',
  'And before I forget, there is the matter of the bicycle. It stood in the hall for ages, and everybody walked around it, and everybody wondered whose it was. Then it was gone, and since then the hall looks so empty that we have put up a cupboard, but the cupboard is far too wide, because the wall is crooked, and so we had somebody come and look at the wall. He looked at it for a whole morning. He said that he had seen many walls in his life, but a wall like that was new to him, and that he would have to bring a colleague, and the colleague came on Thursday, and between them they drank all the coffee that we had.',
  'That reminds me of the summer in which we painted the fence. We bought the green paint first, and then we thought that blue would be nicer, and then it rained for weeks, so that we had the time to think about it again. In the end half of it is green, and the other half is blue, and people stop and take pictures of it. My sister says that we should have called her, but she would have said yellow, and she lives far away and hardly ever has to look at it. I could send you a picture, if I could remember where I have put the thing that takes them. It must be somewhere near the bicycle pump.',
];

export const announcements: Lines = [
  'The person you are calling is not available. Please leave a message after the tone.',
  'Hi, I cannot come to the phone right now. Leave a message and I will call you back.',
];
