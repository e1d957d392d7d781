"""Reads values in CuTe's notation and writes them as C++ expressions of the compile-time API."""


class Reader:
    def __init__(self, text):
        self.s, self.i = text, 0

    def skip(self):
        while self.i < len(self.s) and self.s[self.i] == " ":
            self.i += 1

    def next(self, word):
        self.skip()
        if self.s.startswith(word, self.i):
            self.i += len(word)
            return True
        return False

    def expect(self, word):
        if not self.next(word):
            raise ValueError(f"{self.s}: {word} is expected at {self.i}")

    def number(self):
        self.skip()
        j = self.i
        if j < len(self.s) and self.s[j] == "-":
            j += 1
        while j < len(self.s) and self.s[j].isdigit():
            j += 1
        if j == self.i:
            raise ValueError(f"{self.s}: a number is expected at {self.i}")
        n, self.i = self.s[self.i : j], j
        return n

    def value(self):
        v = self.item()
        while True:
            back = self.i
            if not self.next("o "):
                self.i = back
                return v
            second = self.item()
            if v[0] in ("coordinates", "counting"):
                v = ("tensor", v, second)
            else:
                self.expect("o ")
                v = ("composed", v, second, self.item())

    def item(self):
        shape = self.primary()
        return ("layout", shape, self.primary()) if self.next(":") else shape

    def primary(self):
        if self.next("("):
            items = []
            if not self.next(")"):
                items.append(self.value())
                while self.next(","):
                    items.append(self.value())
                self.expect(")")
            return ("tuple", items)
        if self.next("Sw<"):
            b = self.number(); self.expect(",")
            m = self.number(); self.expect(",")
            s = self.number(); self.expect(">")
            return ("swizzle", b, m, s)
        if self.next("ArithTuple"):
            return ("coordinates", self.primary())
        if self.next("counting_iter("):
            n = self.number(); self.expect(")")
            return ("counting", n)
        if self.next("E<"):
            inside = self.s[self.i : self.s.index(">", self.i)]
            self.i += len(inside) + 1
            return ("raw", f"E<{inside}>{{}}")
        static = self.next("_")
        if static and not (self.i < len(self.s) and (self.s[self.i].isdigit() or self.s[self.i] == "-")):
            return ("mark",)
        n = self.number()
        path = []
        while self.next("@"):
            path.insert(0, self.number())
        return ("number", static, n, path)


def cpp(v):
    kind = v[0]
    if kind == "number":
        _, static, n, path = v
        literal = f"Int<{n}>{{}}" if static else f"({n})"
        if not path:
            return literal
        scalar = f"Int<{n}>" if static else "int"
        return f"ScaledBasis<{scalar},{','.join(path)}>{{{'' if static else n}}}"
    if kind == "mark":
        return "Underscore{}"
    if kind == "raw":
        return v[1]
    if kind == "tuple":
        return f"make_tuple({','.join(cpp(x) for x in v[1])})"
    if kind == "layout":
        return f"make_layout({cpp(v[1])},{cpp(v[2])})"
    if kind == "swizzle":
        return f"Swizzle<{v[1]},{v[2]},{v[3]}>{{}}"
    if kind == "composed":
        return f"make_composed_layout({cpp(v[1])},{cpp(v[2])},{cpp(v[3])})"
    if kind == "coordinates":
        return f"make_inttuple_iter({cpp(v[1])})"
    if kind == "counting":
        return f"counting_iterator<int>({v[1]})"
    return f"make_tensor({cpp(v[1])},{cpp(v[2])})"


def read(notation):
    r = Reader(notation)
    v = r.value()
    r.skip()
    if r.i != len(notation):
        raise ValueError(f"{notation}: unread from {r.i}")
    return v


def expression(text):
    return cpp(read(text))
