"""The sentences. Two pairs are classics of the field, the rest was written for this book."""

# (sentence, word that makes A right, word that makes B right, A, B)
PAIRS = (
    ("The animal didn't cross the street because it was too {}.",
     "tired", "wide", "animal", "street"),
    ("The trophy doesn't fit in the suitcase because it is too {}.",
     "big", "small", "trophy", "suitcase"),
    ("The ball broke the window because it was too {}.",
     "hard", "fragile", "ball", "window"),
    ("The dog could not jump over the fence because it was too {}.",
     "tired", "high", "dog", "fence"),
    ("The truck could not pass under the bridge because it was too {}.",
     "tall", "low", "truck", "bridge"),
    ("The cat couldn't reach the shelf because it was too {}.",
     "short", "high", "cat", "shelf"),
    ("The boat could not enter the harbor because it was too {}.",
     "large", "shallow", "boat", "harbor"),
    ("The horse couldn't pull the cart because it was too {}.",
     "weak", "heavy", "horse", "cart"),
    ("The book didn't fit in the bag because it was too {}.",
     "thick", "full", "book", "bag"),
    ("The knife couldn't cut the bread because it was too {}.",
     "blunt", "stale", "knife", "bread"),
    ("The robot couldn't lift the box because it was too {}.",
     "weak", "heavy", "robot", "box"),
    ("The bird couldn't eat the nut because it was too {}.",
     "young", "hard", "bird", "nut"),
    ("The car couldn't climb the hill because it was too {}.",
     "slow", "steep", "car", "hill"),
    ("The ship couldn't break the ice because it was too {}.",
     "light", "thick", "ship", "ice"),
    ("The plane couldn't land on the island because it was too {}.",
     "fast", "rocky", "plane", "island"),
    ("The rope couldn't hold the rock because it was too {}.",
     "thin", "heavy", "rope", "rock"),
    ("The fish couldn't swallow the worm because it was too {}.",
     "sick", "long", "fish", "worm"),
    ("The lamp didn't light the room because it was too {}.",
     "weak", "large", "lamp", "room"),
    ("The bear couldn't enter the cave because it was too {}.",
     "fat", "narrow", "bear", "cave"),
    ("The piano didn't go through the door because it was too {}.",
     "wide", "narrow", "piano", "door"),
    ("The mouse couldn't move the stone because it was too {}.",
     "weak", "heavy", "mouse", "stone"),
    ("The train couldn't stop at the station because it was too {}.",
     "fast", "small", "train", "station"),
    ("The wolf couldn't catch the rabbit because it was too {}.",
     "slow", "fast", "wolf", "rabbit"),
    ("The plant couldn't grow in the garden because it was too {}.",
     "sick", "dry", "plant", "garden"),
)
"""24 pairs: the meaning of the last word decides what "it" is."""

# the same stories with B named first: (sentence, index in PAIRS)
PASSIVES = (
    ("The street was not crossed by the animal because it was too {}.", 0),
    ("The window was broken by the ball because it was too {}.", 2),
    ("The fence could not be jumped by the dog because it was too {}.", 3),
    ("The shelf could not be reached by the cat because it was too {}.", 5),
    ("The harbor could not be entered by the boat because it was too {}.", 6),
    ("The cart could not be pulled by the horse because it was too {}.", 7),
    ("The bread could not be cut by the knife because it was too {}.", 9),
    ("The box could not be lifted by the robot because it was too {}.", 10),
    ("The nut could not be eaten by the bird because it was too {}.", 11),
    ("The hill could not be climbed by the car because it was too {}.", 12),
    ("The cave could not be entered by the bear because it was too {}.", 18),
    ("The stone could not be moved by the mouse because it was too {}.", 20),
)

# gender or number decides: (sentence, pronoun, what it means, the other noun); heads are chosen on these
AGREEMENT = (
    ("The girl met the boys and she smiled.", "she", "girl", "boys"),
    ("The boys met the girl and she smiled.", "she", "girl", "boys"),
    ("The king sent the queen a letter because he was angry.", "he", "king", "queen"),
    ("The queen sent the king a letter because he was angry.", "he", "king", "queen"),
    ("My mother called my brother when she came home.", "she", "mother", "brother"),
    ("My brother called my mother when she came home.", "she", "mother", "brother"),
    ("The man bought the car and then he drove away.", "he", "man", "car"),
    ("The car hit the man but he stood up.", "he", "man", "car"),
    ("The teacher gave the students a test but they failed.", "they", "students", "teacher"),
    ("The students liked the teacher and they laughed.", "they", "students", "teacher"),
    ("The woman fed the dogs before they slept.", "they", "dogs", "woman"),
    ("The dogs found the woman and they barked.", "they", "dogs", "woman"),
    ("The father told his daughter that she was right.", "she", "daughter", "father"),
    ("The daughter told her father that he was right.", "he", "father", "daughter"),
    ("The nurse helped the king until he could walk.", "he", "king", "nurse"),
    ("The actress thanked the man because he had waited.", "he", "man", "actress"),
    ("The boy saw two birds and they sang.", "they", "birds", "boy"),
    ("Two birds saw the boy and he sang.", "he", "boy", "birds"),
    ("Mary asked John a question and he answered.", "he", "john", "mary"),
    ("John asked Mary a question and she answered.", "she", "mary", "john"),
)

# held out: other words in other frames, each noun first as often as second; (pronoun, right noun, other noun)
_NEW = (
    ("he", "uncle", "aunt"), ("she", "aunt", "uncle"), ("he", "prince", "princess"), ("she", "princess", "prince"),
    ("he", "waiter", "waitress"), ("she", "waitress", "waiter"), ("she", "sister", "husband"),
    ("he", "husband", "sister"), ("they", "farmers", "lady"), ("she", "lady", "farmers"),
    ("they", "soldiers", "priest"), ("he", "priest", "soldiers"), ("they", "cats", "gentleman"),
    ("he", "gentleman", "cats"), ("she", "bride", "groom"), ("he", "groom", "bride"),
    ("she", "grandmother", "nephew"), ("he", "nephew", "grandmother"),
)
_FRAMES = (
    "The {a} talked to the {b} until {p} had to leave.",
    "The {b} waited for the {a} while {p} finished the work.",
    "Yesterday the {a} and the {b} ate bread, but {p} did not like the taste.",
    "After the {b} had seen the {a} in the park, {p} went home.",
)
HELD_OUT = tuple(
    (frame.format(a=min(right, other), b=max(right, other), p=pronoun), pronoun, right, other)
    for pronoun, right, other in _NEW for frame in _FRAMES)

# plain prose for norms, cosines and shares
PROSE = (
    "The animal didn't cross the street because it was too tired.",
    "When the old sailor finally reached the harbor, he sold his boat and bought a small house near the church.",
    "Scientists who study the ocean have found that whales remember songs which they heard many years ago.",
    "The committee voted against the plan, but the mayor, who had promised new roads, signed it anyway.",
    "My sister gave the letter to her friend after the teacher had read it to the whole class.",
)

# what an agent wrote down, and questions that share hardly a word with the note that answers them: (question, note)
NOTES = (
    "Dana cannot eat peanuts; they make her throat swell.",
    "The flight to Oslo leaves on Friday at seven in the morning.",
    "The printer on the second floor is out of toner.",
    "Our landlord wants the rent by the third of each month.",
    "Grandfather was born in a village near Lisbon.",
    "The database password was changed after the break-in.",
    "Milo barks at the postman whenever the gate is open.",
    "The kitchen tap drips and the plumber comes next week.",
    "Priya won the chess tournament for the second time.",
    "The museum is closed for repairs until spring.",
    "Sales fell by a tenth after the price went up.",
    "The children learn the violin with Mrs. Okafor.",
)
QUESTIONS = (
    ("Who has a food allergy?", 0),
    ("When does the plane take off?", 1),
    ("Why can I not get a document on paper?", 2),
    ("What must be paid every four weeks?", 3),
    ("Where do our ancestors come from?", 4),
    ("Did somebody attack our computers?", 5),
    ("Is there a noisy dog?", 6),
    ("Which thing in the house leaks?", 7),
    ("Who is good at board games?", 8),
    ("Can we look at paintings today?", 9),
    ("How did customers react to higher costs?", 10),
    ("Who teaches music?", 11),
)

# one word decides the verb, and a noun of the other number stands between: (singular, plural, what follows)
AGREEING = tuple((one, many, (f"The {one} {link} the {near_many}", f"The {many} {link} the {near_one}"))
                 for one, many, link, near_one, near_many in (
    ("key", "keys", "to", "cabinet", "cabinets"), ("book", "books", "about", "king", "kings"),
    ("picture", "pictures", "of", "child", "children"), ("letter", "letters", "from", "lawyer", "lawyers"),
    ("road", "roads", "between", "village", "villages"), ("boy", "boys", "near", "tree", "trees"),
    ("price", "prices", "of", "ticket", "tickets"), ("answer", "answers", "to", "question", "questions"),
    ("owner", "owners", "of", "horse", "horses"), ("song", "songs", "about", "river", "rivers"),
    ("door", "doors", "behind", "curtain", "curtains"), ("leader", "leaders", "of", "group", "groups"),
))

# the same words in another order mean the opposite: (first, verb, second, question stem)
ORDERED = tuple((a, verb, b, stem) for a, verb, b, stem in (
    ("dog", "chased", "cat", "The one that ran away was the"), ("teacher", "praised", "student", "The one who got praise was the"),
    ("nurse", "helped", "doctor", "The one who got help was the"), ("boy", "pushed", "girl", "The one who fell down was the"),
    ("lawyer", "paid", "driver", "The one who received the money was the"),
    ("farmer", "sold the horse to", "soldier", "The one who now owns the horse is the"),
    ("wolf", "killed", "bear", "The one that died was the"), ("king", "followed", "queen", "The one who walked in front was the"),
    ("cook", "thanked", "waiter", "The one who was thanked was the"), ("artist", "taught", "singer", "The one who learned was the"),
))

NAMES = ("Mary", "John", "Anna", "Peter", "Tom", "Alice", "James", "Laura")
PLACES = (("store", "drink"), ("park", "ball"), ("office", "letter"), ("school", "book"))
PROMPTS = ("Once upon a time, there was a", "The weather in the mountains", "To make a good soup, you")
