# docker build -t hypar_exp .
# docker run --rm -v "$PWD/outputs:/work/outputs" hypar_exp network=vgg_e strategy=hypar array.levels=4
FROM python:3.11-slim
WORKDIR /src
COPY pyproject.toml README.md LICENSE ./
COPY conf conf
COPY hydra_plugins hydra_plugins
COPY hypar_exp hypar_exp
RUN pip install --no-cache-dir '.[onnx,search]' && rm -rf /src
RUN useradd --create-home researcher && mkdir /work && chown researcher /work
USER researcher
WORKDIR /work
ENTRYPOINT ["hypar-exp"]
