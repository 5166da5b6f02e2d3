import type { Language } from '../world/language.ts';

type Lines = readonly [string, ...string[]];

const english = {
  optedOut: 'I understand. You will not be called again. Goodbye.',
  wrongPerson: 'I am sorry to have disturbed you, I must have the wrong number. Goodbye.',
  thanks: 'Thank you for your time. Goodbye.',
  goodbyeAgain: 'I see. I really have to say goodbye now. Goodbye.',
  again: 'Sorry, I did not get that.',
  otherLanguage: (spoken: string) =>
    `I am sorry, I do not speak ${spoken}. Somebody else will have to call you. Goodbye.`,
  goOn: 'Of course, let us go on in English.',
  isThis: (name: string) => `Am I speaking with ${name}?`,
  calling: (who: string) => `This is ${who}.`,
  automated: (about: string) => `This is an automated call: ${about}.`,
  couldYouTell: (what: string) => `Could you tell me ${what}?`,
  yesOrNo: 'Yes or no?',
  aNumber: 'Please give me a number.',
  choices: (list: string) => `You can say ${list}.`,
  howToHelp: 'Is there anything that I can do for you?',
  message: 'Please call us back when it suits you. Goodbye.',
  canYouHear: 'Hello, can you hear me?',
  giveUp: 'I will try again another time. Goodbye.',
  timeOver: 'I am afraid that our time is over. Goodbye.',
  acknowledgements: ['Thank you.', 'All right.', 'I see.'] as Lines,
};

/** What the built-in agent says by itself. Questions come from the agent's own settings. */
export type AgentLines = typeof english;

export const agentLines: Readonly<Record<Language, AgentLines>> = {
  en: english,
  es: {
    optedOut: 'Entiendo. No le volveremos a llamar. Adiós.',
    wrongPerson: 'Perdone la molestia, debo de tener un número equivocado. Adiós.',
    thanks: 'Gracias por su tiempo. Adiós.',
    goodbyeAgain: 'Ya veo. Ahora tengo que despedirme. Adiós.',
    again: 'Perdone, no le he entendido.',
    otherLanguage: () => 'Lo siento, solo hablo español. Le llamará otra persona. Adiós.',
    goOn: 'Claro, sigamos en español.',
    isThis: (name) => `¿Hablo con ${name}?`,
    calling: (who) => `Le llama ${who}.`,
    automated: (about) => `Esta es una llamada automática: ${about}.`,
    couldYouTell: (what) => `¿Podría decirme ${what}?`,
    yesOrNo: '¿Sí o no?',
    aNumber: 'Dígame un número, por favor.',
    choices: (list) => `Puede decir ${list}.`,
    howToHelp: '¿Puedo ayudarle en algo?',
    message: 'Llámenos cuando pueda, por favor. Adiós.',
    canYouHear: 'Hola, ¿me oye?',
    giveUp: 'Lo intentaré en otro momento. Adiós.',
    timeOver: 'Me temo que se ha acabado el tiempo. Adiós.',
    acknowledgements: ['Gracias.', 'De acuerdo.', 'Entiendo.'],
  },
  de: {
    optedOut: 'Ich verstehe. Wir rufen Sie nicht mehr an. Auf Wiederhören.',
    wrongPerson: 'Entschuldigen Sie die Störung, ich habe mich wohl verwählt. Auf Wiederhören.',
    thanks: 'Vielen Dank für Ihre Zeit. Auf Wiederhören.',
    goodbyeAgain: 'Ich verstehe. Jetzt muss ich mich verabschieden. Auf Wiederhören.',
    again: 'Entschuldigung, das habe ich nicht verstanden.',
    otherLanguage: () => 'Es tut mir leid, ich spreche nur Deutsch. Jemand anderes wird Sie anrufen. Auf Wiederhören.',
    goOn: 'Gerne, machen wir auf Deutsch weiter.',
    isThis: (name) => `Spreche ich mit ${name}?`,
    calling: (who) => `Hier ist ${who}.`,
    automated: (about) => `Dies ist ein automatischer Anruf: ${about}.`,
    couldYouTell: (what) => `Können Sie mir sagen: ${what}?`,
    yesOrNo: 'Ja oder nein?',
    aNumber: 'Bitte nennen Sie mir eine Zahl.',
    choices: (list) => `Sie können sagen: ${list}.`,
    howToHelp: 'Kann ich etwas für Sie tun?',
    message: 'Bitte rufen Sie uns zurück, wenn es Ihnen passt. Auf Wiederhören.',
    canYouHear: 'Hallo, hören Sie mich?',
    giveUp: 'Ich versuche es ein andermal. Auf Wiederhören.',
    timeOver: 'Unsere Zeit ist leider um. Auf Wiederhören.',
    acknowledgements: ['Danke.', 'Gut.', 'Ich verstehe.'],
  },
  fr: {
    optedOut: 'Je comprends. Nous ne vous appellerons plus. Au revoir.',
    wrongPerson: 'Excusez-moi de vous avoir dérangé, j’ai dû faire un faux numéro. Au revoir.',
    thanks: 'Merci de m’avoir répondu. Au revoir.',
    goodbyeAgain: 'Je vois. Je dois vraiment vous laisser. Au revoir.',
    again: 'Pardon, je n’ai pas compris.',
    otherLanguage: () => 'Je suis désolé, je ne parle que français. Quelqu’un d’autre vous appellera. Au revoir.',
    goOn: 'Bien sûr, continuons en français.',
    isThis: (name) => `Est-ce que je parle à ${name} ?`,
    calling: (who) => `C’est ${who} qui vous appelle.`,
    automated: (about) => `Ceci est un appel automatique : ${about}.`,
    couldYouTell: (what) => `Pourriez-vous me dire : ${what} ?`,
    yesOrNo: 'Oui ou non ?',
    aNumber: 'Donnez-moi un nombre, s’il vous plaît.',
    choices: (list) => `Vous pouvez dire ${list}.`,
    howToHelp: 'Puis-je faire quelque chose pour vous ?',
    message: 'Rappelez-nous quand cela vous convient. Au revoir.',
    canYouHear: 'Allô, vous m’entendez ?',
    giveUp: 'J’essaierai une autre fois. Au revoir.',
    timeOver: 'Notre temps est malheureusement écoulé. Au revoir.',
    acknowledgements: ['Merci.', 'D’accord.', 'Je vois.'],
  },
};

const ownWordings = Object.values(agentLines).map(({ isThis }) => {
  const [before = '', after = ''] = isThis('\u0000').split('\u0000');
  return { before, after };
});
const otherWordings = /\b(?:[Aa]m I (?:speaking|talking) (?:with|to)|[Ii]s this) (?<name>\p{Lu}[\p{L} .'’-]*)\?/u;

/** The name in "Am I speaking with …?"; null where nobody is asked for by name. */
export function nameAskedFor(text: string): string | null {
  for (const { before, after } of ownWordings) {
    const at = text.indexOf(before);
    if (at !== -1 && text.endsWith(after)) return text.slice(at + before.length, text.length - after.length);
  }
  return otherWordings.exec(text)?.groups?.name ?? null;
}
